import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";

/** The relative imports of a package's source files, by path below `src`, without tests, which may import anything. */
export type Imports = ReadonlyMap<string, readonly string[]>;

const IMPORT = /\b(?:from|import)\s*\(?\s*"(?<path>\.[^"]+)"/g;

export function readImports(src: string): Imports {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file) && !file.startsWith("generated"),
  );
  return new Map(
    files.map((file) => {
      const source = readFileSync(join(src, file), "utf8");
      const imported = [...source.matchAll(IMPORT)].map(({ groups }) =>
        normalize(join(dirname(file), groups?.["path"] ?? "")),
      );
      return [file, imported];
    }),
  );
}

/**
 * Finds import cycles, such as `a -> b -> a`, between the entries of a folder of which at least one is a folder. A file is a
 * separate entry, so that every folder may import `errors.ts` at the root, and `index.ts` may import every folder. The linter
 * finds cycles between files (`import/no-cycle`), but has no rule for folders.
 */
export function findFolderCycles(imports: Imports): string[] {
  const graphs = new Map<string, Map<string, Set<string>>>();
  for (const [file, imported] of imports) {
    for (const target of imported) {
      const { folder, from, to } = siblings(file, target);
      if (from === to) continue;
      const graph = graphs.get(folder) ?? new Map<string, Set<string>>();
      graphs.set(folder, graph);
      graph.set(from, (graph.get(from) ?? new Set()).add(to));
    }
  }
  return [...graphs].flatMap(([folder, graph]) =>
    cyclesOf(graph)
      .filter((cycle) => cycle.some((entry) => !/\.tsx?$/.test(entry)))
      .map((cycle) => cycle.map((entry) => join(folder, entry)).join(" -> ")),
  );
}

/** The entries of the closest common folder that contain the two files. */
function siblings(one: string, other: string): { folder: string; from: string; to: string } {
  const [left, right] = [one.split(sep), other.split(sep)];
  const depth = left.findIndex((part, index) => part !== right[index]);
  const at = depth === -1 ? left.length - 1 : depth;
  return { folder: left.slice(0, at).join(sep), from: left[at] ?? "", to: right[at] ?? "" };
}

/** Reports each cycle once, starting with its alphabetically first entry. */
function cyclesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const starts = [...graph.keys()].toSorted();
  const covered = new Set<string>();
  return starts.flatMap((start) => {
    if (covered.has(start)) return [];
    const path = shortestCycle(graph, start);
    for (const entry of path ?? []) covered.add(entry);
    return path ? [path] : [];
  });
}

function shortestCycle(graph: ReadonlyMap<string, ReadonlySet<string>>, start: string): string[] | undefined {
  const paths: string[][] = [[start]];
  const seen = new Set<string>();
  for (const path of paths) {
    for (const next of graph.get(path.at(-1) ?? "") ?? []) {
      if (next === start) return [...path, start];
      if (!seen.has(next)) paths.push([...path, next]);
      seen.add(next);
    }
  }
  return undefined;
}
