import { join } from "node:path";
import * as z from "zod";
import { configFailure } from "./config-file.ts";
import { ancestors, canonical, checkoutRoot, exists, isGitMark, mainCheckout } from "./git-root.ts";
import { isTable, tableOf, type TomlTable, valueOf } from "./project-toml.ts";

/** Settings that define the root of a project and which projects are trusted. */
const trustSettings = z.object({
  project_root_markers: z
    .array(z.string(), "project_root_markers must be an array of strings")
    .default([".git"]),
  projects: z
    .record(z.string(), z.object({ trust_level: z.enum(["trusted", "untrusted"]).optional() }))
    .default({}),
});

/** The project that contains a working directory. */
export interface Project {
  readonly root: string;
  /** Whether the user trusts the configuration in this folder of the project. */
  isTrusted(folder: string): Promise<boolean>;
  /** For a linked worktree, returns the corresponding folder in the main checkout. */
  inMainCheckout(folder: string): string | undefined;
}

/** Finds the project by the settings of the machine and the user. The project's own settings are not used. */
export async function findProject(cwd: string, layers: readonly TomlTable[]): Promise<Project> {
  const settings = trustSettings.safeParse(layers.reduce(merge, {}));
  if (!settings.success) throw configFailure(settings.error.issues[0]?.message ?? "invalid settings");
  const { project_root_markers: markers, projects } = settings.data;
  const root = await projectRoot(cwd, markers);
  const checkout = await checkoutRoot(cwd);
  const main = checkout === undefined ? undefined : await mainCheckout(checkout);
  return {
    root,
    isTrusted: async (folder) => {
      for (const place of main === undefined ? [folder, root] : [folder, root, main]) {
        for (const key of [await canonical(place), place]) {
          const level = Object.hasOwn(projects, key) ? projects[key]?.trust_level : undefined;
          if (level !== undefined) return level === "trusted";
        }
      }
      return false;
    },
    inMainCheckout: (folder) => {
      if (checkout === undefined || main === undefined || checkout === main) return undefined;
      const inside = folder === checkout || folder.startsWith(join(checkout, "/"));
      return inside ? join(main, folder.slice(checkout.length)) : undefined;
    },
  };
}

/** Returns the nearest folder that contains a marker, or the working directory if there is none. */
async function projectRoot(cwd: string, markers: readonly string[]): Promise<string> {
  for (const folder of ancestors(cwd)) {
    for (const marker of markers) {
      const path = join(folder, marker);
      if (await (marker === ".git" ? isGitMark(path) : exists(path))) return folder;
    }
  }
  return cwd;
}

/** Merges tables recursively. Other values are replaced. */
function merge(below: TomlTable, above: TomlTable): TomlTable {
  const merged = new Map(Object.entries(below));
  for (const [key, value] of Object.entries(above)) {
    const old = valueOf(below, key);
    merged.set(key, isTable(old) && isTable(value) ? merge(old, value) : value);
  }
  return tableOf(merged);
}
