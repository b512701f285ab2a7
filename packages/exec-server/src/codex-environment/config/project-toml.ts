import { parse, stringify, type TomlTable, type TomlValue } from "smol-toml";

export type { TomlTable, TomlValue } from "smol-toml";

/** Keys to keep. `true` keeps everything below. */
type Selection = Map<string, Selection> | true;

/**
 * Parses TOML such that `printToml` writes every value with its original type: integers become bigints,
 * floats numbers.
 */
export function parseToml(text: string): TomlTable {
  const table = parse(text, { integersAsBigInt: true });
  checkIntegers(table);
  return table;
}

export function printToml(table: TomlTable): string {
  return stringify(table, { numbersAsFloat: true });
}

/** Returns only the values at the given paths, or undefined if there are none. */
export function projectToml(table: TomlTable, paths: readonly (readonly string[])[]): TomlTable | undefined {
  const selection = select(paths);
  if (selection === true) return table;
  const projected = projectTable(table, selection);
  return Object.keys(projected).length === 0 ? undefined : projected;
}

export function isTable(value: TomlValue | undefined): value is TomlTable {
  return typeof value === "object" && !Array.isArray(value) && !(value instanceof Date);
}

/** Creates a table. Keys such as `__proto__` are treated like any other key. */
export function tableOf(entries: Iterable<readonly [string, TomlValue]>): TomlTable {
  return Object.fromEntries(entries);
}

/** Returns a copy of the table without the value at a path. */
export function withoutPath(table: TomlTable, [key, ...rest]: readonly string[]): TomlTable {
  const kept: [string, TomlValue][] = [];
  for (const [name, value] of Object.entries(table)) {
    if (name !== key) kept.push([name, value]);
    else if (rest.length > 0) kept.push([name, isTable(value) ? withoutPath(value, rest) : value]);
  }
  return tableOf(kept);
}

/** Returns the value of a key. Ignores inherited properties. */
export function valueOf(table: TomlTable, key: string): TomlValue | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Throws for an integer of more than 64 bits, because Codex would reject the whole response. */
function checkIntegers(value: TomlValue): void {
  if (typeof value === "bigint" && BigInt.asIntN(64, value) !== value) {
    throw new RangeError(`The integer ${value} has more than 64 bits.`);
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
    // A value on the path that is not a table is kept, because it hides the values of lower layers.
    kept.push([key, below === true || !isTable(value) ? value : projectTable(value, below)]);
  }
  return tableOf(kept);
}
