import { codexConfig, withoutModelVariables } from "@codexkit/scripted-model";
import { tempFolder } from "@codexkit/testing";
import { findCodex } from "codexkit/process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Model } from "./start-model.ts";

export { LEAVE_MS } from "./leave-ms.ts";

/** Where the codex of one contestant lives: nothing of the machine's own configuration reaches it, nor of another's. */
export interface CodexHome extends AsyncDisposable {
  /** The native binary, the same for all. */
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
    // Codex makes no helper programs for a home inside the temp folder.
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
      // For each request codex reads all certificates of the machine, which takes as long as there are many of them. The
      // model is reached without TLS: none is needed.
      SSL_CERT_FILE: "/dev/null",
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}
