import { parse, stringify, type TomlTable, type TomlValue } from "smol-toml";

export type { TomlTable, TomlValue } from "smol-toml";

/** Keys to keep: `true` keeps all that is below. */
type Selection = Map<string, Selection> | true;

/** Reads TOML so that `printToml` gives every value back as what it was: integers are bigints, floats numbers. */
export function parseToml(text: string): TomlTable {
  const table = parse(text, { integersAsBigInt: true });
  checkIntegers(table);
  return table;
}

export function printToml(table: TomlTable): string {
  return stringify(table, { numbersAsFloat: true });
}

/** Only what lies at one of the paths. Undefined when nothing does. */
export function projectToml(table: TomlTable, paths: readonly (readonly string[])[]): TomlTable | undefined {
  const selection = select(paths);
  if (selection === true) return table;
  const projected = projectTable(table, selection);
  return Object.keys(projected).length === 0 ? undefined : projected;
}

export function isTable(value: TomlValue | undefined): value is TomlTable {
  return typeof value === "object" && !Array.isArray(value) && !(value instanceof Date);
}

/** A table of these entries. A key such as `__proto__` is a key like any other. */
export function tableOf(entries: Iterable<readonly [string, TomlValue]>): TomlTable {
  return Object.fromEntries(entries);
}

/** The same table without what lies at a path. */
export function withoutPath(table: TomlTable, [key, ...rest]: readonly string[]): TomlTable {
  const kept: [string, TomlValue][] = [];
  for (const [name, value] of Object.entries(table)) {
    if (name !== key) kept.push([name, value]);
    else if (rest.length > 0) kept.push([name, isTable(value) ? withoutPath(value, rest) : value]);
  }
  return tableOf(kept);
}

/** The value of a key; never something that tables inherit. */
export function valueOf(table: TomlTable, key: string): TomlValue | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** An integer of more than 64 bits is an error to Codex, which would then refuse the answer as a whole. */
function checkIntegers(value: TomlValue): void {
  if (typeof value === "bigint" && BigInt.asIntN(64, value) !== value) {
    throw new RangeError(`the integer ${value} has more than 64 bits`);
  }
  const below = Array.isArray(value) ? value : isTable(value) ? Object.values(value) : [];
  for (const one of below) checkIntegers(one);
}

function select(paths: readonly (readonly string[])[]): Selection {
  const root = new Map<string, Selection>();
  for (const path of paths) {
    const last = path.at(-1);
    if (last === undefined) return true;
    let at: Selection = root;
    for (const key of path.slice(0, -1)) {
      if (at === true) break;
      const below: Selection = at.get(key) ?? new Map<string, Selection>();
      at.set(key, below);
      at = below;
    }
    if (at !== true) at.set(last, true);
  }
  return root;
}

function projectTable(table: TomlTable, selection: Map<string, Selection>): TomlTable {
  const kept: [string, TomlValue][] = [];
  for (const [key, value] of Object.entries(table)) {
    const below = selection.get(key);
    if (below === undefined) continue;
    // Where a path leads through something that is no table, that is kept: it hides what lower layers have there.
    kept.push([key, below === true || !isTable(value) ? value : projectTable(value, below)]);
  }
  return tableOf(kept);
}
