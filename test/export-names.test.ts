import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** The entry points of the published packages, by package name. */
const entryPoints = globSync("packages/*/package.json", { cwd: root }).flatMap((manifest) => {
  const { name, exports = {} } = JSON.parse(readFileSync(join(root, manifest), "utf8")) as {
    name: string;
    exports?: Record<string, { "codexkit:source"?: string } | string>;
  };
  return Object.values(exports).flatMap((entry) => {
    const source = typeof entry === "string" ? undefined : entry["codexkit:source"];
    return source === undefined ? [] : [{ name, path: join(root, dirname(manifest), source) }];
  });
});

/** The names that a file exports, except those of other packages. */
function exportedNames(path: string): string[] {
  const source = readFileSync(path, "utf8").replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*/g, "");
  const lists = source.matchAll(/export (?:type )?\{(?<names>[^}]*)\}(?: from "(?<from>[^"]+)")?/g);
  return [...lists].flatMap(({ groups: { names = "", from = "." } = {} }) =>
    from.startsWith(".")
      ? names
          .split(",")
          .map((name) =>
            name
              .trim()
              .replace(/^type /, "")
              .replace(/^.* as /, ""),
          )
          .filter((name) => name !== "")
      : [],
  );
}

/** `codexkit/compat` exports the names of `@openai/codex-sdk`, for programs that migrate from it. */
const isCompat = (path: string): boolean => path.includes("/compat/");

test("no two packages export different things under the same name", () => {
  const packagesOf = new Map<string, Set<string>>();
  for (const { name, path } of entryPoints.filter((entry) => !isCompat(entry.path))) {
    for (const exported of exportedNames(path)) {
      packagesOf.set(exported, (packagesOf.get(exported) ?? new Set()).add(name));
    }
  }
  expect(packagesOf.size).toBeGreaterThan(500);
  const shared = [...packagesOf]
    .filter(([, names]) => names.size > 1)
    .map(([name, names]) => `${name}: ${[...names].join(", ")}`);
  expect(shared).toEqual([]);
});
