import type { Problem } from "@codexkit/daemon/client";
import { expect, test } from "vitest";
import {
  EMPTY_FORM,
  fieldErrors,
  parseDeadline,
  parseForm,
  readForm,
  type SessionForm,
  withoutSecrets,
} from "./session-form.ts";

const NOW = 1_000_000;
const form = (change: Partial<SessionForm>): SessionForm => ({ ...EMPTY_FORM, cwd: "/srv/app", ...change });

test("creates a minimal body from the defaults", () => {
  expect(readForm(form({}), NOW)).toEqual({
    body: {
      cwd: "/srv/app",
      permissionMode: "workspace-write",
      agentMode: "build",
      approvalPolicy: "on-request",
    },
  });
});

test("creates a body from all fields", () => {
  const all = form({
    name: " Parser ",
    model: "m",
    effort: "high",
    budget: "200k",
    deadline: "1h 30m",
    environmentUrl: "wss://host/x",
    environmentToken: "secret",
  });
  expect(readForm(all, NOW)).toMatchObject({
    body: {
      name: "Parser",
      model: "m",
      effort: "high",
      budget: { totalTokens: 200_000 },
      deadline: NOW + 5_400_000,
      environment: { url: "wss://host/x", token: "secret" },
    },
  });
});

test.each([
  [{ cwd: "" }, "cwd"],
  [{ cwd: "app" }, "cwd"],
  [{ budget: "lots" }, "budget"],
  [{ deadline: "tomorrow" }, "deadline"],
  [{ environmentUrl: "https://host" }, "environmentUrl"],
  [{ environmentToken: "secret" }, "environmentUrl"],
])("refuses %j", (change, field) => {
  expect(readForm(form(change), NOW)).toEqual({ errors: { [field]: expect.any(String) as string } });
});

test("assigns problems of the daemon to fields", () => {
  const problem = (change: Partial<Problem>): Problem => ({
    type: "bad_request",
    title: "",
    status: 400,
    detail: "Invalid.",
    ...change,
  });
  expect(fieldErrors(problem({ type: "path_not_allowed", detail: "Outside." }))).toEqual({
    fields: { cwd: "Outside." },
    general: undefined,
  });
  expect(
    fieldErrors(
      problem({
        errors: [
          { path: "body.environment.url", message: "Bad URL." },
          { path: "budget.totalTokens", message: "Too small." },
        ],
      }),
    ),
  ).toEqual({ fields: { environmentUrl: "Bad URL.", budget: "Too small." }, general: undefined });
  expect(fieldErrors(problem({ errors: [{ path: "priority", message: "Too big." }] }))).toEqual({
    fields: {},
    general: "Invalid. priority: Too big.",
  });
  expect(fieldErrors(problem({ type: "draining", detail: "Shutting down." })).general).toBe("Shutting down.");
});

test("stores no secrets, and reads invalid values as defaults", () => {
  expect(withoutSecrets(form({ environmentToken: "secret" })).environmentToken).toBe("");
  expect(parseForm({ cwd: "/a", model: 5, other: "x" })).toEqual({ ...EMPTY_FORM, cwd: "/a" });
  expect(parseForm("x")).toEqual(EMPTY_FORM);
});

test.each(["", "0m", "5", "m", "99999999999d"])("rejects the deadline %j", (text) => {
  expect(parseDeadline(text, NOW)).toBeUndefined();
});
