import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An empty temporary folder for Codex to work in. Removed when its last user releases it. */
export class Workspace {
  readonly path: string;
  #users = 1;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<Workspace> {
    // Codex reports real paths, and on some systems the temporary folder is a link.
    return new Workspace(await mkdtemp(join(await realpath(tmpdir()), "codexkit-workspace-")));
  }

  retain(): this {
    this.#users += 1;
    return this;
  }

  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users === 0) await rm(this.path, { recursive: true, force: true });
  }
}
