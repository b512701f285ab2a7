import { tempFolder } from "@codexkit/testing";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PromptSession } from "../session/session.ts";
import { allOf, anyOf, checkCompletion, type CompletionChecker, filesExist } from "./completion.ts";

const context = { session: new PromptSession(), workspace: undefined, cwd: "/nowhere", text: "" };
const yes: CompletionChecker = { check: () => ({ complete: true }) };
const no = (feedback: string): CompletionChecker => ({ check: async () => ({ complete: false, feedback }) });

test("files are searched in the thread's folder, and missing ones are listed", async () => {
  await using folder = await tempFolder("completion");
  writeFileSync(join(folder.path, "a.md"), "");
  const checker = filesExist("a.md", "b.md", "c/d.md");
  expect(await checker.check({ ...context, cwd: folder.path })).toEqual({
    complete: false,
    feedback: "These files are missing: b.md, c/d.md. Create them.",
  });
  expect(await filesExist("a.md").check({ ...context, cwd: folder.path })).toEqual({ complete: true });
});

test("allOf requires all checkers, and combines the feedback of those that reject", async () => {
  expect(await allOf(yes, yes).check(context)).toEqual({ complete: true });
  expect(await allOf(yes, no("one"), no("two")).check(context)).toEqual({
    complete: false,
    feedback: "one\n\ntwo",
  });
});

test("anyOf requires one checker, and otherwise offers all feedback", async () => {
  expect(await anyOf(no("one"), yes).check(context)).toEqual({ complete: true });
  expect(await anyOf(no("one"), no("two")).check(context)).toEqual({
    complete: false,
    feedback: "Do one of these:\n\none\n\ntwo",
  });
});

test("checkers can be nested", async () => {
  expect(await allOf(anyOf(no("a"), yes), allOf(yes)).check(context)).toEqual({ complete: true });
});

test.for([undefined, null, true, {}, { complete: 1 }, { complete: false }, { complete: false, feedback: 5 }])(
  "%j is no verdict, and does not count as complete",
  async (verdict) => {
    const checker = { check: () => verdict as never };
    await expect(checkCompletion(checker, context)).rejects.toMatchObject({ code: "invalid_definition" });
    await expect(allOf(checker).check(context)).rejects.toMatchObject({ code: "invalid_definition" });
  },
);
