import { launchCodex } from "@codexkit/testing";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addSkillRoots } from "./skill-roots.ts";

test("roots that Codex rejects don't affect later evaluations", async () => {
  await using setup = await launchCodex({ model: [] });
  const path = join(setup.workspace, "skills", "greet");
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "SKILL.md"), "---\nname: greet\ndescription: Greets.\n---\n");
  const hasSkill = async (): Promise<boolean> => {
    const [entry] = await setup.codex.skills.list({ cwds: [setup.workspace], reload: true });
    return entry?.skills.some(({ name }) => name === "greet") ?? false;
  };

  const rejected = addSkillRoots(setup.codex, [{ name: "relative", path: "skills/relative" }]);
  const concurrent = addSkillRoots(setup.codex, [{ name: "greet", path }]);
  await expect(rejected).rejects.toMatchObject({ code: "invalid_argument" });
  await (await concurrent)[Symbol.asyncDispose]();
  expect(await hasSkill()).toBe(false);

  const added = await addSkillRoots(setup.codex, [{ name: "greet", path }]);
  expect(await hasSkill()).toBe(true);
  await added[Symbol.asyncDispose]();
  expect(await hasSkill()).toBe(false);
});
