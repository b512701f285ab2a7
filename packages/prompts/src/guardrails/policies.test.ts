import { expect, test } from "vitest";
import { PromptSession } from "../session/session.ts";
import type { PolicyCall } from "../tools/tool-policy.ts";
import { customPolicy, readBeforeWrite, requireTools } from "./policies.ts";

const call = (
  session: PromptSession,
  tool: string,
  input: object = {},
  files: readonly string[] = [],
): PolicyCall => ({
  tool,
  input,
  session,
  fileExists: (path) => files.includes(path),
});

test("an existing file must be read before it is changed; a new one may be written", async () => {
  const session = new PromptSession();
  const policy = readBeforeWrite({ read: { read: "path" }, write: { write: "path" } });

  expect(await policy.check(call(session, "write", { path: "new" }))).toEqual({ allow: true });
  expect(await policy.check(call(session, "write", { path: "a" }, ["a"]))).toMatchObject({ allow: false });
  await policy.onSuccess?.(call(session, "read", { path: "a" }, ["a"]));
  expect(await policy.check(call(session, "write", { path: "a" }, ["a"]))).toEqual({ allow: true });
  expect(await policy.check(call(session, "other", { path: "b" }, ["b"]))).toEqual({ allow: true });
});

test("a tool is denied until its required tools have succeeded", async () => {
  const session = new PromptSession();
  const policy = requireTools({ deploy: ["test", "build"] });

  expect(await policy.check(call(session, "deploy"))).toMatchObject({
    reason: "Call test and build before deploy.",
  });
  await policy.onSuccess?.(call(session, "test"));
  expect(await policy.check(call(session, "deploy"))).toMatchObject({ reason: "Call build before deploy." });
  await policy.onSuccess?.(call(session, "build"));
  expect(await policy.check(call(session, "deploy"))).toEqual({ allow: true });
});

test("policies of the same kind have separate state, which a rollback undoes", async () => {
  const session = new PromptSession();
  const one = requireTools({ deploy: ["test"] }, "one");
  const other = requireTools({ deploy: ["test"] }, "other");
  const checkpoint = session.checkpoint();
  await one.onSuccess?.(call(session, "test"));

  expect(await one.check(call(session, "deploy"))).toEqual({ allow: true });
  expect(await other.check(call(session, "deploy"))).toMatchObject({ allow: false });
  session.rollback(checkpoint);
  expect(await one.check(call(session, "deploy"))).toMatchObject({ allow: false });
});

test("a function can deny a call with a reason", async () => {
  const policy = customPolicy("small", ({ input }) =>
    (input as { n: number }).n > 3 ? "too many" : undefined,
  );

  expect(await policy.check(call(new PromptSession(), "t", { n: 1 }))).toEqual({ allow: true });
  expect(await policy.check(call(new PromptSession(), "t", { n: 4 }))).toEqual({
    allow: false,
    reason: "too many",
  });
});

test("a file that was read under another spelling of its path may be changed", async () => {
  const session = new PromptSession();
  const policy = readBeforeWrite({ read: { read: "path" }, write: { write: "path" } });
  await policy.onSuccess?.(call(session, "read", { path: "./d/../a" }, ["a"]));
  expect(await policy.check(call(session, "write", { path: "a" }, ["a"]))).toEqual({ allow: true });
  expect(await policy.check(call(session, "write", { path: "./b" }, ["b"]))).toMatchObject({ allow: false });
});

test("a misconfigured policy is rejected, because it would allow everything", () => {
  expect(() => readBeforeWrite({ reads: {}, write: {} } as never)).toThrow(/Did you mean "read"/);
  expect(() => readBeforeWrite({ read: {} } as never)).toThrow(/write must be/);
  expect(() => requireTools({ deploy: "test" } as never)).toThrow(/dependencies must be/);
  expect(() => customPolicy("p", undefined as never)).toThrow(/check must be a function/);
});

test("tools named like inherited object members require no other tools", async () => {
  const policy = requireTools({ deploy: ["test"] });
  expect(await policy.check(call(new PromptSession(), "constructor"))).toEqual({ allow: true });
});
