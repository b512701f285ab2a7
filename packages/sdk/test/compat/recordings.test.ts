import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { join } from "node:path";
import { expect, it } from "vitest";

const file = join(import.meta.dirname, "recordings/versions.snap");

function installedVersion(name: string, dependent: string): string {
  const manifest = findPackageJSON(name, new URL(`../../../../${dependent}/`, import.meta.url));
  return (JSON.parse(readFileSync(manifest ?? "", "utf8")) as { version: string }).version;
}

// The soak tests compare the recordings with the original. To record again: `npm run soak -- compat -u`.
it("were made with the installed releases of the original and of codex", async () => {
  const versions = {
    "@openai/codex": installedVersion("@openai/codex", "packages/sdk"),
    "@openai/codex-sdk": installedVersion("@openai/codex-sdk", "bench"),
  };
  await expect(`${JSON.stringify(versions, undefined, 2)}\n`).toMatchFileSnapshot(file);
});
