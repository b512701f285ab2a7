import { say } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import { expect, it } from "vitest";
import { CodexProvider } from "./codex-provider.ts";

/** Options as a JavaScript program could pass them. */
function misspelt(options: object): never {
  return options as never;
}

function refusal(text: string): object {
  return { code: "invalid_spec", message: expect.stringContaining(text) as string };
}

it("rejects misspelt options of the provider before codex is started", async () => {
  const path = { codexPath: "/nowhere/codex" };
  await expect(CodexProvider.create(misspelt({ ...path, pricse: {} }))).rejects.toMatchObject(
    refusal('"prices"'),
  );
  const prices = { m: { inputPerMillon: 1, outputPerMillion: 1 } };
  await expect(CodexProvider.create(misspelt({ ...path, prices }))).rejects.toMatchObject(
    refusal('no field "inputPerMillon"'),
  );
});

it("rejects misspelt options of spawn and resume", async () => {
  await using folders = await codexFolders({ model: () => say("done") });
  await using provider = await CodexProvider.create({ env: folders.env, inheritEnv: false });
  const spec = { prompt: "x", cwd: folders.workspace };
  await expect(provider.spawn(spec, misspelt({ idempotencyKy: "a" }))).rejects.toMatchObject(
    refusal('"idempotencyKey"'),
  );
  await expect(provider.resume("a", spec, misspelt({ signl: undefined, sgnal: 1 }))).rejects.toMatchObject(
    refusal('"signal"'),
  );
  expect(provider.sessions).toBe(0);
});
