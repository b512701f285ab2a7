import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { definePolicy, evaluate, parsePolicy, type Rule } from "./index.ts";
import { quote } from "./shell/value.ts";

const corpus = JSON.parse(readFileSync(new URL("../corpus/dangerous.json", import.meta.url), "utf8")) as {
  readonly command: string;
  readonly rule: string;
}[];
const workspace = { roots: ["/srv/app"], home: "/home/me" };
const open = definePolicy({ preset: "danger-full-access", workspace });
const cwd = "/srv/app";

function decisionOf(command: string, policy = open) {
  return evaluate(policy, { kind: "command", command, cwd }).decision;
}

/** Commands that are refused wherever they stand; a here-document or an open bracket can't be moved at will. */
const movable = corpus
  .map(({ command }) => command)
  .filter((command) => !/\n|<<|#|^\(|&\s*$|^! /.test(command) && decisionOf(command) !== "allow")
  .filter((command) => !evaluate(open, { kind: "command", command, cwd }).rule.endsWith("parse-error"));

const denied = fc.constantFrom(...movable);

/** Ways to put a command into another one so that it still runs. */
const wrapping = fc.constantFrom<(command: string) => string>(
  (command) => `bash -c ${quote(command)}`,
  (command) => `sh -ec ${quote(command)}`,
  (command) => `eval ${quote(command)}`,
  (command) => `env A=1 bash -c ${quote(command)}`,
  (command) => `timeout 5 nice -n 3 bash -lc ${quote(command)}`,
  (command) => `xargs -n1 sh -c ${quote(command)}`,
  (command) => `find . -maxdepth 1 -exec sh -c ${quote(command)} \\;`,
  (command) => `watch -n1 ${quote(command)}`,
  (command) => `trap ${quote(command)} EXIT`,
  (command) => `git -c alias.zz=${quote(`!${command}`)} zz`,
  (command) => `npx -c ${quote(command)}`,
  (command) => `ssh build.example ${quote(command)}`,
  (command) => `echo ${quote(command)} | bash`,
  (command) => `bash <<< ${quote(command)}`,
  (command) => `bash <<'END'\n${command}\nEND\n`,
  (command) => `(${command} )`,
  (command) => `{ ${command}\n}`,
  (command) => `ls && ${command}`,
  (command) => `false || { ${command}\n}`,
  (command) => `ls; ${command}`,
  (command) => `ls\n${command}`,
  (command) => `ls | { ${command}\n}`,
  (command) => `if true; then ${command}\nfi`,
  (command) => `for i in 1 2; do ${command}\ndone`,
  (command) => `while :; do ${command}\ndone`,
  (command) => `case x in x) ${command}\n;; esac`,
  (command) => `f() { ${command}\n}; f`,
  (command) => `echo "$(${command}\n)"`,
  (command) => `cat <(${command}\n)`,
  (command) => `x=$(${command}\n)`,
  (command) => `echo \${x:-$(${command}\n)}`,
  (command) => `cat <<END\n$(${command}\n)\nEND\n`,
);

describe("disguises", () => {
  it("never make a refused command accepted, however deep they go", () => {
    fc.assert(
      fc.property(denied, fc.array(wrapping, { minLength: 1, maxLength: 4 }), (command, wraps) => {
        const disguised = wraps.reduce((text, wrap) => wrap(text), command);
        expect({ disguised, decision: decisionOf(disguised) }).not.toEqual({ disguised, decision: "allow" });
      }),
      { numRuns: 3000 },
    );
  });

  /** Each spells one character of a word in a way that bash reads as the same character. */
  const spell = (char: string, how: number): string => {
    if (/[^A-Za-z/.-]/.test(char)) return char;
    const code = char.charCodeAt(0);
    return (
      [
        char,
        `'${char}'`,
        `"${char}"`,
        `\\${char}`,
        `$'\\x${code.toString(16)}'`,
        `$'\\${code.toString(8).padStart(3, "0")}'`,
        `""${char}`,
      ][how] ?? char
    );
  };

  it("in quoting never make a refused command accepted", () => {
    const words = fc.constantFrom(
      "rm -rf /",
      "sudo id",
      "git reset --hard",
      "git push --force",
      "mkfs /dev/sda",
      "chmod -R 777 /",
      "shutdown now",
      "rm -rf /etc",
      "git worktree prune",
      "dd of=/dev/sda",
    );
    fc.assert(
      fc.property(words, fc.array(fc.nat(6), { minLength: 40, maxLength: 40 }), (command, choices) => {
        const disguised = command
          .split("")
          .map((char, index) => spell(char, choices[index] ?? 0))
          .join("");
        expect({ disguised, decision: decisionOf(disguised) }).toEqual({ disguised, decision: "deny" });
      }),
      { numRuns: 3000 },
    );
  });

  it("in variables never make a refused command accepted", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("rm -rf /", "sudo id", "git reset --hard", "rm -rf /usr"),
        fc.nat(20),
        fc.boolean(),
        (command, cut, quoted) => {
          const at = 1 + (cut % (command.length - 1));
          const [head, tail] = [command.slice(0, at), command.slice(at)];
          const disguised = `a=${quote(head)}; b=${quote(tail)}; ${quoted ? 'eval "$a$b"' : "$a$b"}`;
          expect({ disguised, decision: decisionOf(disguised) }).not.toEqual({
            disguised,
            decision: "allow",
          });
        },
      ),
    );
  });
});

describe("rules", () => {
  const rule: fc.Arbitrary<Rule> = fc.oneof(
    fc.constantFrom<Rule>(
      { kind: "regex", pattern: ".*" },
      { kind: "path", glob: "**" },
      { kind: "host", host: "*" },
      { kind: "prefix", argv: ["rm"] },
      { kind: "prefix", argv: ["bash"] },
      { kind: "prefix", argv: ["git"] },
      { kind: "prefix", argv: ["sudo"] },
      { kind: "mcp", server: "*" },
    ),
    denied.map((text): Rule => ({ kind: "script", text })),
    denied.map((text): Rule => ({ kind: "exact", argv: text.split(" ") })),
    denied.map((text): Rule => ({ kind: "prefix", argv: text.split(" ").slice(0, 2) })),
  );

  it("that allow never override a safety deny", () => {
    const refused = fc.constantFrom(
      ...corpus.filter(({ rule: id }) => id.startsWith("safety/")).map(({ command }) => command),
    );
    fc.assert(
      fc.property(
        refused,
        fc.array(rule, { maxLength: 4 }),
        fc.array(rule, { maxLength: 4 }),
        (command, allow, alsoAllow) => {
          const policy = definePolicy({
            preset: "danger-full-access",
            workspace,
            allow: [...allow, { kind: "script", text: command }],
            alsoAllow,
          });
          expect({ command, decision: decisionOf(command, policy) }).toEqual({ command, decision: "deny" });
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("that deny are never outweighed by rules that allow", () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 4 }), (allow) => {
        const policy = definePolicy({
          preset: "danger-full-access",
          workspace,
          deny: ["npm publish"],
          alsoAllow: [...allow, "npm publish"],
        });
        expect(decisionOf("cd x && npm publish --tag next", policy)).toBe("deny");
      }),
    );
  });

  it("survive JSON, and decide alike afterwards", () => {
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 3 }),
        fc.array(rule, { maxLength: 3 }),
        fc.constantFrom(...corpus),
        (deny, allow, { command }) => {
          const policy = definePolicy({ workspace, deny, allow });
          const copy = parsePolicy(JSON.parse(JSON.stringify(policy)));
          expect(copy).toEqual(JSON.parse(JSON.stringify(policy)));
          const request = { kind: "command", command, cwd } as const;
          expect(evaluate(copy, request)).toEqual(evaluate(policy, request));
        },
      ),
    );
  });
});

describe("evaluate", () => {
  const shellText = fc
    .array(
      fc.constantFrom(
        "rm",
        "ls",
        " ",
        " ",
        "\n",
        "'",
        '"',
        "\\",
        "$",
        "(",
        ")",
        "{",
        "}",
        "`",
        ";",
        "|",
        "&",
        "<",
        ">",
        "<<E\n",
        "E\n",
        "a",
        "=",
        "*",
        "~",
        "/",
        "if ",
        "then ",
        "fi",
        "do ",
        "done",
        "for x in ",
        "$((",
        "))",
        "[[",
        "]]",
        "bash -c ",
        "eval ",
        "#",
        "!",
        "\u0000",
        "é",
        "\r",
        "case x in ",
        "esac",
        "f() ",
        "function ",
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join(""));
  const bytes = fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array).toString("latin1"));
  const text = fc.oneof(shellText, bytes, fc.string({ unit: "binary", maxLength: 200 }));

  it("is total and deterministic for any text", () => {
    fc.assert(
      fc.property(
        text,
        fc.constantFrom("developer", "danger-full-access", "read-only"),
        (command, preset) => {
          const policy = definePolicy({ preset, workspace });
          const first = evaluate(policy, { kind: "command", command, cwd });
          expect(first.rule).not.toBe("safety/internal-error");
          expect(evaluate(definePolicy({ preset, workspace }), { kind: "command", command, cwd })).toEqual(
            first,
          );
        },
      ),
      { numRuns: 4000 },
    );
  });

  /** Each part may be read again for what stands around it: with two readings a level, thirty levels never end. */
  const nesting = fc.constantFrom<(inside: string) => string>(
    (inside) => `function f ${inside}`,
    (inside) => `f() { ${inside}\n}; f; f`,
    (inside) => `function g { ${inside}\n}`,
    (inside) => `x=a; x=b; f() { $x ${inside}\n}; f`,
    (inside) => `f$i() { ${inside}\n}; f1; f$i`,
    (inside) => `alias a=${quote(inside)}; a; a`,
    (inside) => `for i in a b $i; do ${inside}\ndone`,
    (inside) => `while a; do ${inside}\ndone`,
    (inside) => `if a; then ${inside}\nelse b; fi`,
    (inside) => `x=$( ${inside}\n); $x`,
    (inside) => `a[$( ${inside}\n)]=b`,
    (inside) => `eval ${quote(inside)}; parallel ${quote(inside)} ::: a b`,
  );

  it("ends for any nesting of definitions, loops and substitutions", () => {
    fc.assert(
      fc.property(fc.array(nesting, { minLength: 2, maxLength: 30 }), (levels) => {
        let command = "{ ls; }";
        for (const level of levels) command = command.length < 20_000 ? level(command) : command;
        expect(["allow", "ask", "deny"]).toContain(decisionOf(command, definePolicy({ workspace })));
      }),
      {
        numRuns: 300,
        examples: [[Array.from({ length: 20 }, () => (inside: string) => `function f ${inside}`)]],
      },
    );
  });

  it("is total for any value that passes for a request", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(["allow", "deny", "ask"]).toContain(evaluate(open, value as never).decision);
      }),
    );
  });

  it("is total for requests of every kind with anything in them", () => {
    const kind = fc.constantFrom(
      "command",
      "fileChange",
      "network",
      "permissions",
      "mcpTool",
      "elicitation",
      "unknown",
      "new",
    );
    fc.assert(
      fc.property(kind, fc.object(), fc.anything(), (name, rest, value) => {
        const request = {
          ...rest,
          kind: name,
          command: value,
          changes: value,
          permissions: value,
          host: value,
          server: value,
        };
        expect(["allow", "deny", "ask"]).toContain(evaluate(open, request as never).decision);
      }),
      { numRuns: 1000 },
    );
  });

  it("never changes its mind about bash -lc around a script", () => {
    fc.assert(
      fc.property(fc.constantFrom(...corpus), ({ command }) => {
        const bare = decisionOf(command);
        expect({ command, decision: decisionOf(`/bin/bash -lc ${quote(command)}`) }).toEqual({
          command,
          decision: bare,
        });
      }),
    );
  });
});
