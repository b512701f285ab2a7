import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface EntryPoint {
  /** The import specifier, such as `codexkit/compat`. */
  readonly name: string;
  readonly source: string;
  readonly description: string;
}

/** Every entry point of every published package. */
export function readEntryPoints(root: string): EntryPoint[] {
  return globSync("packages/*/package.json", { cwd: root })
    .toSorted()
    .flatMap((path) => {
      const manifest = JSON.parse(readFileSync(join(root, path), "utf8")) as {
        name: string;
        private?: boolean;
        exports: Record<string, string | Record<string, string>>;
      };
      if (manifest.private) return [];
      return Object.entries(manifest.exports).flatMap(([subpath, target]) => {
        const source = typeof target === "string" ? undefined : target["codexkit:source"];
        if (source === undefined) return [];
        const file = join(root, dirname(path), source);
        return [{ name: manifest.name + subpath.slice(1), source: file, description: firstComment(file) }];
      });
    });
}

/** Reads the description of an entry point from its first comment. */
function firstComment(file: string): string {
  const [comment = ""] = /^(?:\/\/ .*\n)+/.exec(readFileSync(file, "utf8")) ?? [];
  return comment
    .replaceAll(/^\/\/ /gm, "")
    .replaceAll("\n", " ")
    .trim();
}
