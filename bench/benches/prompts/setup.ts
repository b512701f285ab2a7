import { callTool, type Script } from "@codexkit/scripted-model";
import { launchCodex, type LaunchedCodex } from "@codexkit/testing";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Shared by the contestants: one codex, and workspaces of two sizes. */
export interface PromptsContext extends AsyncDisposable {
  readonly codex: LaunchedCodex["codex"];
  readonly folder: string;
  readonly small: string;
  readonly large: string;
}

export const SMALL_FILES = 10;
export const LARGE_FILES = 10_000;

/** Calls the tool once if the turn asks for it, then answers. */
const script: Script = ({ newOutputs, lastUserText }) =>
  lastUserText.includes("Use the tool") && newOutputs.length === 0
    ? callTool("touch", { name: "made.txt" })
    : "Done.";

export async function setUp(): Promise<PromptsContext> {
  const launched = await launchCodex({ model: script, modelName: "gpt-5.5", modelRetries: 0 });
  const root = mkdtempSync(join(tmpdir(), "codexkit-bench-prompts-"));
  return {
    codex: launched.codex,
    folder: launched.workspace,
    small: makeFiles(join(root, "small"), SMALL_FILES),
    large: makeFiles(join(root, "large"), LARGE_FILES),
    [Symbol.asyncDispose]: async () => {
      rmSync(root, { recursive: true, force: true });
      await launched[Symbol.asyncDispose]();
    },
  };
}

function makeFiles(folder: string, count: number): string {
  for (let index = 0; index < count; index += 1) {
    const path = join(folder, `d${index % 100}`, `e${index % 7}`, `f${index}.ts`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `export const value${index} = ${index};\n`.repeat(1 + (index % 20)));
  }
  return folder;
}

/**
 * The snapshot of a git-based peer: an external git folder, `add -A` and a commit; `reset --hard` to restore.
 */
export class GitSnapshots implements Disposable {
  readonly #gitFolder: string;
  readonly #workTree: string;

  constructor(workTree: string) {
    this.#workTree = workTree;
    this.#gitFolder = mkdtempSync(join(tmpdir(), "codexkit-bench-git-"));
    this.#git("init", "-q");
  }

  take(): string {
    this.#git("add", "-A");
    this.#git("commit", "-q", "--allow-empty", "-m", "snapshot");
    return this.#git("rev-parse", "HEAD").trim();
  }

  restore(commit: string): void {
    this.#git("reset", "-q", "--hard", commit);
  }

  [Symbol.dispose](): void {
    rmSync(this.#gitFolder, { recursive: true, force: true });
  }

  #git(...words: readonly string[]): string {
    return execFileSync("git", [`--git-dir=${this.#gitFolder}`, `--work-tree=${this.#workTree}`, ...words], {
      encoding: "utf8",
      env: {
        ...process.env,
        GIT_AUTHOR_NAME: "bench",
        GIT_AUTHOR_EMAIL: "bench@example.com",
        GIT_COMMITTER_NAME: "bench",
        GIT_COMMITTER_EMAIL: "bench@example.com",
      },
    });
  }
}
