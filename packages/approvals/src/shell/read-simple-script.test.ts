import fc from "fast-check";
import { expect, test } from "vitest";
import { readParsedScript } from "./read-script.ts";
import { readSimpleScript } from "./read-simple-script.ts";

const FOLDERS = ["/srv/app"];
const CONTEXTS = (["bash", "zsh", "unknown"] as const).map((dialect) => ({
  dialect,
  home: "/home/me",
  folders: FOLDERS,
}));

const PIECES = (
  "ls git a-b ./x.sh /usr/bin/env --name=value --x -n 5 a=b A=b =x -=x - -- .. :x @v1 100% +x a,b 'a b' \"c d\" '' \"\" " +
  '\'it\'"s" --x=\'*.ts\' "a$b" "a`b" "a\\\\b" "!x" ; ;; & && | || |& \\n \\t > >> 2>&1 2> 1> 0< < >&2 >& &> >| <> << <<< 2 12 1-5 !x ( ) { } {a,b} * ? [ ]] [[ ~ # ! $x $(a) \\\\ é \'é\' ' +
  "if then fi do done while for in case esac time function select coproc cd set exit export eval source . : test [ let"
).split(" ");

const scripts = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 8, arbitrary: fc.constantFrom(...PIECES) },
        { weight: 1, arbitrary: fc.string({ unit: "binary-ascii", maxLength: 4 }) },
        { weight: 1, arbitrary: fc.string({ maxLength: 3 }) },
      ),
      fc.constantFrom(" ", " ", " ", "", "\t", "  "),
    ),
    { minLength: 1, maxLength: 10 },
  )
  .map((parts) =>
    parts.map(([piece, blank]) => piece.replace("\\n", "\n").replace("\\t", "\t") + blank).join(""),
  );

test("reads simple scripts exactly as the general reader does", () => {
  let simple = 0;
  fc.assert(
    fc.property(scripts, (source) => {
      const commands = readSimpleScript(source, FOLDERS);
      if (commands === undefined) return;
      simple += 1;
      for (const context of CONTEXTS) {
        const { problem, commands: expected } = readParsedScript(source, context);
        expect({ problem, commands: expected }).toEqual({ problem: undefined, commands });
      }
    }),
    { numRuns: 20_000, seed: 20_261_116 },
  );
  expect(simple).toBeGreaterThan(1_000);
});

test.each([
  "npm test",
  "grep -c x < a.txt > out.txt 2>&1",
  "dd if=a of=b",
  "git add a.ts && git commit -m 'Fix it'",
  "ls | grep --include='*.ts' \"a b\"; wc -l x\npwd\n",
])("covers %s", (source) => {
  expect(readSimpleScript(source, FOLDERS)).toBeDefined();
});

test.each([
  "cd x",
  "A=b ls",
  "if ls",
  "ls >| x",
  "ls 3> x",
  "ls 1< x",
  "> x ls",
  "a | b < c",
  "ls &",
  'echo "$x"',
  "ls *",
  "a;;b",
  "a |",
  "| a",
  "",
  "a=b",
])("leaves %s to the general reader", (source) => {
  expect(readSimpleScript(source, FOLDERS)).toBeUndefined();
});
