import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseToml } from "../src/codex-environment/config/project-toml.ts";
import type { EnvironmentConfigStack } from "../src/wire/exec-wire.ts";

/** Layers as values: the two print the same TOML in different ways. */
export function meaning({ layers, cloudInsertionIndex }: EnvironmentConfigStack): unknown {
  return { layers: layers.map((layer) => ({ ...layer, toml: parseToml(layer.toml) })), cloudInsertionIndex };
}

/** Writes files, with the folders that they need. */
export async function putFiles(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}
