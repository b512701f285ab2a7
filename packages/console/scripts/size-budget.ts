import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Largest sizes of the built page, in bytes of gzip. */
export const SIZE_BUDGET = {
  /** Scripts that index.html loads. */
  entry: 50_000,
  /** Scripts until a session is on screen: the entry, the session screen and what it imports, and the feed's worker. */
  session: 100_000,
  /** Styles until a session is on screen. Those of other screens and panels are loaded with them. */
  css: 12_000,
  /** What the first diff loads. */
  diff: 24_000,
  /** What the first block of code loads. */
  highlighter: 40_000,
  /** What the first terminal loads. */
  terminal: 130_000,
} as const;

export type Sizes = { readonly [Part in keyof typeof SIZE_BUDGET]: number };

interface ManifestEntry {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
  /** Its workers, among others. */
  readonly assets?: readonly string[];
}

/** Modules that are loaded before a session is on screen, besides the entry. */
const SESSION_MODULES = ["src/app/session-screen.tsx"];

/** The module of the library that compares words, as the manifest names it. */
const WORD_DIFF = "../../node_modules/diff/libesm/index.js";

/** Measures a built page by its manifest. */
export function measure(out: string): Sizes {
  const manifest = JSON.parse(readFileSync(join(out, ".vite/manifest.json"), "utf8")) as Readonly<
    Record<string, ManifestEntry>
  >;
  const sizeOf = (file: string): number => gzipSync(readFileSync(join(out, file)), { level: 9 }).length;
  const scripts = (names: readonly string[]): Set<string> => {
    const found = new Set<string>();
    const visit = (name: string): void => {
      const entry = manifest[name];
      if (!entry) throw new Error(`The build has no module ${name}.`);
      if (found.has(entry.file)) return;
      found.add(entry.file);
      for (const imported of entry.imports ?? []) visit(imported);
    };
    for (const name of names) visit(name);
    return found;
  };
  const sum = (files: Iterable<string>): number =>
    [...files].reduce((total, file) => total + sizeOf(file), 0);
  const workers = (name: RegExp): string[] =>
    Object.values(manifest)
      .flatMap(({ assets = [] }) => assets)
      .filter((file) => name.test(file));
  const eager = scripts(["index.html", ...SESSION_MODULES]);
  const styles = Object.values(manifest).flatMap(({ file, css = [] }) => (eager.has(file) ? css : []));
  const lazy = (...names: string[]): Iterable<string> => scripts(names).difference(eager);
  return {
    entry: sum(scripts(["index.html"])),
    session: sum([...eager, ...workers(/feed-worker/)]),
    css: sum(new Set(styles)),
    diff: sum(lazy("src/diff/diff-panel.tsx", WORD_DIFF)),
    highlighter: sum(workers(/highlight-worker/)),
    terminal: sum(lazy("src/terminal/terminal-panel.tsx", "src/terminal/terminal-screen.tsx")),
  };
}

/** Describes the parts that are larger than their budget. */
export function checkSizes(sizes: Sizes): string[] {
  return (Object.keys(SIZE_BUDGET) as (keyof Sizes)[])
    .filter((part) => sizes[part] > SIZE_BUDGET[part])
    .map(
      (part) =>
        `The console's ${part} is ${sizes[part]} bytes of gzip. Its budget is ${SIZE_BUDGET[part]} bytes.`,
    );
}
