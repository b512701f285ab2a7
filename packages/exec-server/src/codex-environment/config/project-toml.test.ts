import fc from "fast-check";
import { expect, test } from "vitest";
import {
  parseToml,
  printToml,
  projectToml,
  type TomlTable,
  type TomlValue,
  withoutPath,
} from "./project-toml.ts";

const key = fc.oneof(
  fc.constantFrom("a", "b", "mcp_servers", "__proto__", "constructor", "", "dotted.key", "1"),
  fc.string({ unit: "grapheme" }),
);
const { table } = fc.letrec<{ value: TomlValue; table: TomlTable }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: "grapheme" }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    // The printer gives -0.0 as 0.0, which no setting tells apart.
    fc.double().filter((number) => !Object.is(number, -0)),
    fc.boolean(),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("table"),
  ),
  table: fc
    .array(fc.tuple(key, tie("value")), { maxLength: 5 })
    .map((entries): TomlTable => Object.fromEntries(entries)),
}));

/** What lies at a path, by the shortest way to say it. */
function at(value: TomlValue | undefined, path: readonly string[]): TomlValue | undefined {
  const [first, ...rest] = path;
  if (first === undefined || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.hasOwn(value, first) ? at((value as TomlTable)[first], rest) : undefined;
}

/** Every path to a value or a table in a table. */
function pathsOf(value: TomlValue): string[][] {
  if (typeof value !== "object" || Array.isArray(value)) return [];
  return Object.entries(value as TomlTable).flatMap(([name, below]) => [
    [name],
    ...pathsOf(below).map((path) => [name, ...path]),
  ]);
}

test("TOML survives being printed and read", () => {
  fc.assert(
    fc.property(table, (original) => {
      expect(parseToml(printToml(original))).toEqual(original);
    }),
  );
});

test("projecting to a path keeps exactly what is below it", () => {
  fc.assert(
    fc.property(table, fc.nat(), (original, index) => {
      const paths = pathsOf(original);
      fc.pre(paths.length > 0);
      const path = paths[index % paths.length] ?? [];
      const projected = projectToml(original, [path]);
      expect(at(projected, path)).toEqual(at(original, path));
      // Nothing beside the path is left, on any level.
      for (let depth = 0; depth < path.length; depth += 1) {
        expect(Object.keys(at(projected, path.slice(0, depth)) ?? {})).toEqual([path[depth]]);
      }
    }),
  );
});

test("projecting twice changes nothing more", () => {
  fc.assert(
    fc.property(table, fc.array(fc.array(key, { minLength: 1, maxLength: 3 })), (original, paths) => {
      const once = projectToml(original, paths);
      expect(once && projectToml(once, paths)).toEqual(once);
    }),
  );
});

test.for<[string, string[][], string | undefined]>([
  ["a = 1\n[t]\nx = 1\ny = 2\n", [["t", "x"]], "[t]\nx = 1\n"],
  ["a = 1\n", [["a", "deeper"]], "a = 1\n"],
  ["[t]\nx = 1\n", [["t", "missing"]], "[t]\n"],
  ["[t]\nx = 1\n", [["missing"]], undefined],
  ["[t]\nx = 1\ny = 2\n", [["t", "x"], ["t"]], "[t]\nx = 1\ny = 2\n"],
  ["[t]\nx = 1\ny = 2\n", [["t"], ["t", "x"]], "[t]\nx = 1\ny = 2\n"],
  ["f = 1.0\nbig = 9007199254740993\n", [["f"], ["big"]], "f = 1.0\nbig = 9007199254740993\n"],
  ["a = 1\n", [["toString"]], undefined],
])("%j at %j is %j", ([toml, paths, expected]) => {
  const projected = projectToml(parseToml(toml), paths);
  expect(projected && printToml(projected)).toBe(expected);
});

test("integers of more than 64 bits are refused", () => {
  expect(() => parseToml("a = [{ b = 9223372036854775808 }]")).toThrow("64 bits");
});

test("a path is taken out with what is below it, and nothing else", () => {
  fc.assert(
    fc.property(table, fc.nat(), (original, index) => {
      const paths = pathsOf(original);
      fc.pre(paths.length > 0);
      const path = paths[index % paths.length] ?? [];
      const left = pathsOf(withoutPath(original, path));
      const isBelow = (other: string[]): boolean => path.every((part, depth) => other[depth] === part);
      expect(left).toEqual(paths.filter((other) => !isBelow(other)));
    }),
  );
});
