import { type AppServer, startAppServer } from "@codexkit/testing";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { peerCaller } from "../../test/peer-caller.ts";
import { Skills } from "./skills.ts";

let server: AppServer;
let skills: Skills;
let root: string;
beforeAll(async () => {
  server = await startAppServer({ model: [] });
  skills = new Skills(peerCaller(await server.connect()));
  root = join(server.workspace, "extra");
  await mkdir(join(root, "greet"), { recursive: true });
  await writeFile(
    join(root, "greet", "SKILL.md"),
    "---\nname: greet\ndescription: Greets\n---\nSay hello.\n",
  );
});
afterAll(() => server[Symbol.asyncDispose]());

async function greet(): Promise<{ enabled: boolean } | undefined> {
  const [entry] = await skills.list({ cwds: [server.workspace], reload: true });
  return entry?.skills.find(({ name }) => name === "greet");
}

it("finds the skills of extra roots and reports the change", async () => {
  expect(await greet()).toBeUndefined();
  const changed = Promise.withResolvers<void>();
  using _listening = skills.onChanged(() => changed.resolve());
  await skills.setExtraRoots([root]);
  await changed.promise;
  expect(await greet()).toMatchObject({ enabled: true });
});

it("enables and disables a skill by name or path", async () => {
  await skills.setExtraRoots([root]);
  expect(await skills.disable({ name: "greet" })).toBe(false);
  expect(await greet()).toMatchObject({ enabled: false });
  expect(await skills.enable({ name: "greet" })).toBe(true);
  expect(await greet()).toMatchObject({ enabled: true });
  const path = join(root, "greet", "SKILL.md");
  expect(await skills.disable({ path })).toBe(false);
  expect(await greet()).toMatchObject({ enabled: false });
  expect(await skills.enable({ path })).toBe(true);
});

it("rejects a relative folder", async () => {
  await expect(skills.setExtraRoots(["extra"])).rejects.toMatchObject({ code: "invalid_argument" });
});
