import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeCodexHome } from "../turns/codex-home.ts";
import { startModel } from "../turns/start-model.ts";

const ROOT = join(import.meta.dirname, "../../..");
const BIN = join(ROOT, "packages/cli/bin/codexkit.mjs");

/** The compared programs, and what they share. */
export interface Programs extends AsyncDisposable {
  /** The built command line, as the first arguments of a process. */
  readonly cli: readonly string[];
  readonly codex: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Users run the bundled build. Running the sources would measure the compiler. */
export async function openPrograms(signal: AbortSignal): Promise<Programs> {
  await promisify(execFile)("npm", ["run", "--silent", "build"], { cwd: ROOT, signal });
  if (!existsSync(BIN)) throw new Error(`${BIN} is missing.`);
  await using made = new AsyncDisposableStack();
  const model = made.use(await startModel(signal, new URL("./script.ts", import.meta.url)));
  const { codex, workspace, env } = made.use(await makeCodexHome(model));
  const owner = made.move();
  return {
    cli: [process.execPath, BIN],
    codex,
    workspace,
    env,
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}
