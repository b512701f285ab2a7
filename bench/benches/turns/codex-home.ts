import { codexConfig, withoutModelVariables } from "@codexkit/scripted-model";
import { tempFolder } from "@codexkit/testing";
import { findCodex } from "codexkit/process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Model } from "./start-model.ts";

export { EXIT_TIMEOUT_MS } from "./exit-timeout.ts";

/**
 * The home of one contestant's codex, isolated from the machine's own configuration and from other
 * contestants.
 */
export interface CodexHome extends AsyncDisposable {
  /** The native binary, the same for all contestants. */
  readonly codex: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
}

export async function makeCodexHome({ url }: Model): Promise<CodexHome> {
  await using made = new AsyncDisposableStack();
  const { path: root } = made.use(await tempFolder("bench-turns"));
  const folders = {
    home: join(root, "home"),
    codexHome: join(root, "codex-home"),
    workspace: join(root, "workspace"),
    // Codex creates no helper programs for a home inside the temporary folder.
    temp: join(root, "temp"),
  };
  for (const path of Object.values(folders)) await mkdir(path);
  await writeFile(join(folders.codexHome, "config.toml"), codexConfig(url, { model: "mock-model" }).toml);
  const inherited = Object.entries(withoutModelVariables(process.env)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const owner = made.move();
  return {
    codex: findCodex().path,
    workspace: folders.workspace,
    env: {
      ...Object.fromEntries(inherited),
      CODEX_HOME: folders.codexHome,
      HOME: folders.home,
      TMPDIR: folders.temp,
      // For each request, codex reads all certificates of the machine, which takes longer the more there are.
      // The model is reached without TLS, so none are needed.
      SSL_CERT_FILE: "/dev/null",
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}
