import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Places } from "../files/places.ts";
import { readSource } from "./read-source.ts";

const places = new Places({ roots: ["/w"], temp: ["/tmp"], home: "/home/me", cwd: "/w", facts: undefined });

function argvOf(source: string): string[] {
  return readSource(source, places).invocations[0]?.argv.map(({ text }) => text) ?? [];
}

/** What bash itself makes of words: printed between NULs by a built-in that does nothing else. */
function bashArguments(lines: readonly string[]): string[][] {
  const script = lines.map((line) => `printf '%s\\0' ${line}; printf '\\1\\0'`).join("\n");
  const out = execFileSync("bash", ["--norc", "--noprofile", "-c", script], {
    env: { HOME: "/home/me" },
    cwd: "/",
  });
  return out
    .toString("utf8")
    .split("\u0001\u0000")
    .slice(0, -1)
    .map((line) => line.split("\u0000").slice(0, -1));
}

describe("words", () => {
  const piece = fc.oneof(
    fc.constantFrom("a", "rm", "-rf", "/", ".", "x=y", "@", "{a,b}", "{1..3}", "{x,y{1,2}}"),
    fc.constantFrom(
      "'a b'",
      '"a b"',
      "'$x'",
      String.raw`\ `,
      String.raw`\'`,
      String.raw`\"`,
      String.raw`"\$a"`,
      String.raw`"\\"`,
      `""`,
      "''",
    ),
    fc.constantFrom(
      String.raw`$'\x72'`,
      String.raw`$'\162'`,
      String.raw`$'a\tb'`,
      String.raw`$'\''`,
      `$"a"`,
      String.raw`$'\u0041'`,
    ),
  );
  const pieces = fc.array(piece, { minLength: 1, maxLength: 4 }).map((list) => list.join(""));
  // `~a` is left alone by bash when there is no such user; here it is somebody's home. So only these two.
  const word = fc.oneof(
    { weight: 5, arbitrary: pieces },
    fc.constantFrom("~", "~/x", "a~b", String.raw`\~/x`, '"~"'),
  );
  const line = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(" "));

  it("are read as the real bash reads them", () => {
    const lines = fc.sample(line, { numRuns: 400, seed: 7 });
    const expected = bashArguments(lines);
    for (const [index, source] of lines.entries()) {
      expect({ source, argv: argvOf(`printf ${source}`).slice(1) }).toEqual({
        source,
        argv: expected[index],
      });
    }
  });

  it("take the values of variables that the script sets, one reading for each", () => {
    const { invocations } = readSource("if a; then d=/x; else d=/y; fi; touch $d", places);
    expect(invocations.filter(({ name }) => name === "touch").map(({ argv }) => argv[1]?.text)).toEqual([
      "/x",
      "/y",
    ]);
  });

  it("see a variable that changes after the function that uses it", () => {
    const { invocations } = readSource("d=build; f() { rm -rf $d; }; d=/; f", places);
    expect(invocations.filter(({ name }) => name === "rm").map(({ argv }) => argv[2]?.text)).toContain("/");
  });

  it("split an unquoted variable and keep a quoted one whole", () => {
    expect(argvOf("x")).toEqual(["x"]);
    const { invocations } = readSource(`X='-rf /'; rm $X; rm "$X"`, places);
    expect(
      invocations.filter(({ name }) => name === "rm").map(({ argv }) => argv.map(({ text }) => text)),
    ).toEqual([
      ["rm", "-rf", "/"],
      ["rm", "-rf /"],
    ]);
  });
});

describe("the folder", () => {
  it.for([
    ["cd sub && touch x", ["/w/sub"]],
    ["cd /; touch x", ["/", "/w"]],
    ["(cd /; true); touch x", ["/w"]],
    ["cd / | true; touch x", ["/w"]],
    ["pushd /tmp && touch x", ["/tmp"]],
    ["env -C /etc touch x", ["/etc"]],
  ] as const)("of the last command in %s", ([source, folders]) => {
    const last = readSource(source, places).invocations.at(-1);
    expect(last?.cwds).toEqual(folders);
  });
});

describe("everything that would run", () => {
  it.for([
    ["a | b && c || d; e & f", ["a", "b", "c", "d", "e", "f"]],
    ["a $(b `c`) <(d) > >(e)", ["c", "b", "d", "e", "a"]],
    ["time nice -n 5 env X=1 timeout 3 a", ["nice", "env", "timeout", "a"]],
    ["find . -exec a {} + -ok b \\;", ["find", "a", "b"]],
    ["bash -c 'a; b' && sh -c \"c\"", ["bash", "a", "b", "sh", "c"]],
    ["eval a b; trap 'c' EXIT", ["eval", "a", "trap", "c"]],
    ["git -c alias.z='!a' z", ["git", "a"]],
    ["xargs -0 -n 2 a", ["xargs", "a"]],
    ["parallel a ::: 1 2", ["parallel", "a", "a"]],
    ["bash <<'E'\na\nE", ["bash", "a"]],
    ["cat <<E\n$(a)\nE", ["a", "cat"]],
    ["[[ $(a) ]] && (( $(b) ))", ["a", "b"]],
    ["for x in $(a); do b; done", ["a", "b"]],
    ["f() { a; }; f; coproc b", ["a", "f", "a", "b"]],
    ["select x in a; do b; done", ["b"]],
    ["case $(a) in b) c;; esac", ["a", "c"]],
    ["npm exec -- a b; npx -p x a", ["npm", "a", "npx", "a"]],
    ["docker compose exec -T web a", ["docker", "a"]],
    ["echo 'a' | base64 -d | xargs -I{} sh -c 'b {}'", ["echo", "base64", "xargs", "sh", "b"]],
  ] as const)("in %s", ([source, names]) => {
    const { invocations } = readSource(source, places);
    expect(invocations.map(({ name }) => name).filter((name) => name !== "")).toEqual(names);
  });
});

describe("beyond the limits", () => {
  it.for(["ls;", "ls|", "$(", "{a,{b,", "${a:-", "`a`", "function f ", "(", "eval ", "bash -c 'ls';"])(
    "64 KB of %s are read in time and never without a finding",
    (unit) => {
      const { findings } = readSource(unit.repeat(Math.ceil(65_536 / unit.length)), places);
      expect(findings.length).toBeGreaterThan(0);
    },
  );
});

describe("a name that may be a function", () => {
  it.for([
    ["f() { :; }; f", true],
    ["if a; then f() { :; }; fi; f", false],
    ["a && f() { :; }; f", false],
    ["(f() { :; }); f", false],
    ["f() { :; }; unset -f f; f", false],
    ["f() { :; }; env f", false],
  ] as const)("in %s", ([source, certain]) => {
    const last = readSource(source, places).invocations.findLast(({ name }) => name === "f");
    expect(last?.isFunction).toBe(certain);
  });
});
