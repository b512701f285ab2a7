import { realpath } from "node:fs/promises";
import { isAbsolute, normalize } from "node:path";
import { isInside } from "@codexkit/rpc";

/**
 * Checks whether the folders of threads are inside the roots. The results are cached, because many threads have the
 * same folder.
 */
export class AllowedFolders {
  readonly #roots: readonly string[];
  readonly #known = new Map<string, Promise<boolean>>();

  /** @param roots Resolved folders. */
  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  async includes(folder: string): Promise<boolean> {
    let known = this.#known.get(folder);
    if (!known) this.#known.set(folder, (known = this.#check(folder)));
    return known;
  }

  /** For a deleted folder, the path itself is checked, so that its threads can still be read. */
  async #check(folder: string): Promise<boolean> {
    if (!isAbsolute(folder) || folder.includes("\0")) return false;
    const resolved = await realpath(folder).catch(() => normalize(folder));
    return this.#roots.some((root) => isInside(root, resolved));
  }
}
