import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

const SRC = join(import.meta.dirname, "../src");

const files = globSync("**/*.{ts,tsx,css}", { cwd: SRC }).filter(
  (file) => !/\.(?:test|fixture)\./.test(file),
);
const texts = new Map(files.map((file) => [file, readFileSync(join(SRC, file), "utf8")]));

const resolve = (from: string, path: string): string => join(dirname(from), path);

/** The files that a module imports. From an `index.ts`, only those of the imported names. */
function importsOf(file: string): string[] {
  const imports = (texts.get(file) ?? "").matchAll(/import (?:(?<names>[^"]*?) from )?"(?<path>\.[^"]+)";/g);
  return [...imports].flatMap(({ groups: { names = "", path = "" } = {} }) => {
    const target = resolve(file, path);
    if (!target.endsWith("/index.ts")) return [target];
    const exported = (texts.get(target) ?? "").matchAll(/export \{(?<names>[^}]*)\} from "(?<path>[^"]+)"/g);
    const wanted = new Set(namesIn(names));
    return [...exported]
      .filter(({ groups }) => namesIn(groups?.["names"] ?? "").some((name) => wanted.has(name)))
      .map(({ groups }) => resolve(target, groups?.["path"] ?? ""));
  });
}

function namesIn(list: string): readonly string[] {
  return list.replaceAll(/\btype\b/g, "").match(/\w+/g) ?? [];
}

function lazyImportsOf(file: string): string[] {
  return [...(texts.get(file) ?? "").matchAll(/import\("(\.[^"]+)"\)/g)].map(([, path = ""]) =>
    resolve(file, path),
  );
}

/** All static dependencies of a module. */
function closureOf(entries: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file) || !texts.has(file)) return;
    found.add(file);
    for (const imported of importsOf(file)) visit(imported);
  };
  for (const entry of entries) visit(entry);
  return found;
}

function usedClasses(text: string): Set<string> {
  const values = [
    ...text.matchAll(/\bclass(?:Name)?(?:=|: )"([^"]*)"/g),
    ...text.matchAll(/\bclass=\{`([^`]*)`\}/g),
  ].map(([, value = ""]) => value);
  const lists = [...text.matchAll(/classList=\{\{(.*?)\}\}/gs)].flatMap(([, list = ""]) =>
    [...list.matchAll(/"?([\w-]+)"?:/g)].map(([, name = ""]) => name),
  );
  return new Set([...values.flatMap((value) => value.split(/\s+/)), ...lists]);
}

const sheetsOf = new Map<string, Set<string>>();
for (const [file, text] of texts) {
  if (!file.endsWith(".css")) continue;
  for (const [, name = ""] of text.matchAll(/\.([a-z][\w-]*)/g)) {
    sheetsOf.set(name, (sheetsOf.get(name) ?? new Set()).add(file));
  }
}

const eager = closureOf(["main.tsx", "styles/base.css", "styles/tokens.css", "styles/ui.css"]);
const lazyEntries = [...new Set(files.flatMap(lazyImportsOf))];
const closures = new Map(lazyEntries.map((entry) => [entry, closureOf([entry])]));

/** The modules that are already loaded when a lazy part is loaded: the common dependencies of all its importers. */
function loadedBefore(entry: string): ReadonlySet<string> {
  const importers = [...closures].filter(([, closure]) =>
    [...closure].some((file) => lazyImportsOf(file).includes(entry)),
  );
  const [first, ...others] = importers.map(([, closure]) => closure);
  const isEager = [...eager].some((file) => lazyImportsOf(file).includes(entry));
  if (isEager || !first) return new Set();
  return others.reduce<ReadonlySet<string>>((common, closure) => common.intersection(closure), first);
}

// The styles of a screen are loaded with the screen. A class from another screen's sheet would have no style until that screen
// is opened.
it.each(lazyEntries)("%s loads the styles of its classes", (entry) => {
  const own = closureOf([entry]);
  const loaded = own.union(loadedBefore(entry)).union(eager);
  const missing = [...own]
    .filter((file) => file.endsWith(".tsx"))
    .flatMap((file) =>
      [...usedClasses(texts.get(file) ?? "")].flatMap((name) => {
        const sheets = [...(sheetsOf.get(name) ?? [])];
        const isLoaded = sheets.length === 0 || sheets.some((sheet) => loaded.has(sheet));
        return isLoaded ? [] : [`.${name} of ${file} is in ${sheets.join(" and ")}`];
      }),
    );
  expect(missing).toEqual([]);
});
