import type { BigIntStats } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isPlaceholder } from "./placeholders.ts";
import { MAX_LINKS } from "../linux-constants.ts";
import { policyRefusal } from "./policy-refusal.ts";

/** The result of resolving a path. */
export interface ResolvedPath {
  /** The path without links. Its last components may be missing. */
  readonly real: string;
  readonly stats: BigIntStats | undefined;
  /** The first missing component. Undefined if the path exists. */
  readonly firstMissing: string | undefined;
  /** Why the resolution ended early. `real` is then the file or folder that could not be entered. */
  readonly stoppedBy?: "file" | "permission";
  /** The links that were followed, each with its location and its target. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

type Failure = "missing" | "file" | "permission";

/** Resolves paths one component at a time, so that every link in them is known. Caches the results. */
export class PathResolver {
  readonly #placeholders = new Map<string, Promise<boolean>>();
  readonly #stats = new Map<string, Promise<BigIntStats | Failure>>();

  async resolve(path: string): Promise<ResolvedPath> {
    const links: { path: string; target: string }[] = [];
    const left = components(path);
    let real = "/";
    let stats = await this.#lstat("/");
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      if (name === "..") {
        real = dirname(real);
        continue;
      }
      const next = join(real, name);
      stats = await this.#lstat(next);
      if (stats === "file" || stats === "permission") {
        return { real, stats: await this.#existing(real), firstMissing: undefined, stoppedBy: stats, links };
      }
      if (stats === "missing") {
        const firstMissing = (await this.isPlaceholder(real)) ? real : next;
        return { real: join(next, ...left), stats: undefined, firstMissing, links };
      }
      if (!stats.isSymbolicLink()) {
        real = next;
        continue;
      }
      if (links.length === MAX_LINKS)
        throw policyRefusal(`${path} contains more than ${MAX_LINKS} symbolic links.`);
      const target = await readlink(next);
      links.push({ path: next, target });
      left.unshift(...components(target));
      if (target.startsWith("/")) real = "/";
    }
    return { real, stats: await this.#existing(real), firstMissing: undefined, links };
  }

  isPlaceholder(path: string): Promise<boolean> {
    const known = this.#placeholders.get(path) ?? isPlaceholder(path);
    this.#placeholders.set(path, known);
    return known;
  }

  async #existing(path: string): Promise<BigIntStats | undefined> {
    const stats = await this.#lstat(path);
    return typeof stats === "string" ? undefined : stats;
  }

  #lstat(path: string): Promise<BigIntStats | Failure> {
    const known = this.#stats.get(path);
    if (known) return known;
    const found = lstat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "missing" as const;
      if (error.code === "ENOTDIR") return "file" as const;
      if (error.code === "EACCES") return "permission" as const;
      throw policyRefusal(`${path} can't be read (${error.code ?? error.message}).`);
    });
    this.#stats.set(path, found);
    return found;
  }
}

function components(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}
