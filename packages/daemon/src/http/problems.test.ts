import { CodexError } from "codexkit";
import { expect, test } from "vitest";
import { createSession } from "../api/settings.ts";
import { invalidInput, toProblem } from "./problems.ts";

test("a failure of Codex is not a defect of the daemon", () => {
  const error = new CodexError("codex_not_found", "There is no codex at /codex.");
  expect(toProblem(error)).toMatchObject({
    isExpected: true,
    problem: { type: "codex_failed", status: 502, detail: "There is no codex at /codex." },
  });
});

test("the problem of a value with several forms names what is wrong in the closest one", () => {
  const { error } = createSession.safeParse({ cwd: "/srv", mcpServers: { files: { comand: "x" } } });
  if (!error) throw new Error("The input is valid.");
  expect(invalidInput("body", error)["errors"]).toEqual([
    { path: "body.mcpServers.files.command", message: expect.stringContaining("expected string") as string },
    { path: "body.mcpServers.files", message: 'Unrecognized key: "comand"' },
  ]);
});
