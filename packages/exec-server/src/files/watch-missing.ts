import { existsSync, type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { EXEC_LIMITS } from "../limits.ts";
import type { NativePath } from "../wire/path-uri.ts";

/** The watches of one connection. Each fires once, when a missing path may exist. */
export class MissingWatches {
  readonly #watches = new Map<number, () => void>();

  /** Returns false if there is nothing to watch: a path already exists, or too many were requested. */
  start(
    watchId: number,
    missing: readonly NativePath[],
    present: NativePath | undefined,
    fired: () => void,
  ): boolean {
    const paths = missing.filter((path): path is string => typeof path === "string");
    if (paths.length === 0 || paths.length !== missing.length || paths.length > EXEC_LIMITS.watchedPaths)
      return false;
    if (this.#watches.has(watchId) || this.#watches.size >= EXEC_LIMITS.watches) return false;
    if (paths.some((path) => existsSync(path))) return false;
    if (present !== undefined && (typeof present !== "string" || !existsSync(present))) return false;

    const watchers: FSWatcher[] = [];
    const stop = (): void => {
      this.#watches.delete(watchId);
      for (const watcher of watchers) watcher.close();
    };
    const fire = (): void => {
      if (!this.#watches.has(watchId)) return;
      stop();
      fired();
    };
    this.#watches.set(watchId, stop);
    try {
      for (const { folder, name } of firstMissing(paths)) {
        watchers.push(
          watch(folder, { persistent: false }, (_event, changed) => {
            if (changed === null || changed === name || !existsSync(folder)) fire();
          }),
        );
      }
      if (present !== undefined) watchers.push(watch(present, { persistent: false }, fire));
    } catch {
      stop();
      return false;
    }
    for (const watcher of watchers) watcher.on("error", fire);
    // It may have been created between the first check and the start of the watch.
    if (paths.some((path) => existsSync(path))) fire();
    return true;
  }

  stopAll(): void {
    for (const stop of this.#watches.values()) stop();
  }
}

/** Returns, for each path, the nearest existing folder and the name in it whose creation matters. */
function firstMissing(paths: readonly string[]): { folder: string; name: string }[] {
  const found = new Map<string, { folder: string; name: string }>();
  for (const path of paths) {
    let missing = path;
    while (missing !== "/" && !isFolder(dirname(missing))) missing = dirname(missing);
    const place = { folder: dirname(missing), name: basename(missing) };
    found.set(`${place.folder}\0${place.name}`, place);
  }
  return [...found.values()];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
