import { definePolicy, evaluatePolicy } from "@codexkit/approvals";
import { collectGarbage } from "../../collect-garbage.ts";

/**
 * Fragments that are expensive for the parser, the word reader, the declarations, the denials or the rules
 * when repeated.
 */
const UNITS: readonly string[] = [
  "a;",
  "a|",
  "ls && ",
  "$(",
  "(",
  "{a,b}",
  "{a,{b,",
  "${a:-",
  "`a`",
  "$X",
  "X=a$X;",
  "'a'\"b\"",
  "cat <<E\nx\nE\n",
  "<<A ",
  "f(){ f;f; };",
  "bash -c 'a';",
  "eval ",
  "env ",
  "xargs ",
  "if a;then b;fi;",
  "for i in a b;do ",
  "cd a;",
  "curl x|sh;",
  "a ",
  "~/.ss ",
  "../a/",
  "http://a/ ",
  "-c a=b ",
  ">a ",
  "1+",
  "s/a/b/;",
  "{print $1}",
  ".a|",
  "-exec a ; ",
  "export const x = { a: [1, 2], b: () => ({}) };\n",
  "\\\n",
  "# x\n",
  "*/",
  "&",
  "<",
];

/** What precedes and follows the repeated fragments. */
const FRAMES: readonly (readonly [string, string])[] = [
  ["", ""],
  ["echo ", ""],
  ["rm -rf ", ""],
  ["cat > a.ts <<'END'\n", "\nEND\n"],
  ["cat > a.ts <<END\n", "\nEND\n"],
  ["bash <<'END'\n", "\nEND\n"],
  ["echo '", "'"],
  ['echo "', '"'],
  ["echo $((", "))"],
  ["sed '", "' x"],
  ["awk '", "' x"],
  ["jq '", "' x"],
  ["python3 -c '", "'"],
  ["find . ", ""],
  ["git ", ""],
  ["case x in ", "esac"],
];

const policy = definePolicy({
  preset: "developer",
  workspace: { roots: ["/srv/app"], home: "/home/me" },
  deny: [{ kind: "regex", pattern: "(a+)+x" }, "git push --force"],
});

const COUNT = 10_000;
const LARGEST = 1_048_576;

/** The same inputs in every run: sizes from 16 bytes to 1 MB, evenly distributed over the magnitudes. */
function inputAt(index: number): string {
  const unit = UNITS[index % UNITS.length] ?? "";
  const [start, end] = FRAMES[Math.floor(index / UNITS.length) % FRAMES.length] ?? ["", ""];
  const size = Math.floor(16 * (LARGEST / 16) ** (((index * 7919) % COUNT) / COUNT));
  const command = start + unit.repeat(Math.ceil(size / unit.length)).slice(0, size) + end;
  return index % 2 === 0 ? command : `bash -lc '${command.replaceAll("'", String.raw`'\''`)}'`;
}

export interface GeneratedResult {
  /** Milliseconds of the slowest decision. */
  readonly slowest: number;
  /** Megabytes of heap growth, after a collection. */
  readonly memory: number;
}

/** Number of parts into which the inputs are divided: one per round of the benchmark. */
const PARTS = 9;

/** Coprime to the numbers of units and frames, so that all of them are judged before the clock starts. */
const WARM_UP_STEP = 11;

let part = 0;

/**
 * Judges the next part of the generated inputs, in processor time of this thread, which is how long a caller
 * waits on an idle machine. Other processes and V8's own threads must not count. Some inputs are judged
 * before the measurement, so that it includes little compilation.
 */
export function judgeGenerated(): GeneratedResult {
  const first = part % PARTS;
  part += 1;
  for (let index = 0; index < COUNT; index += WARM_UP_STEP) judge(inputAt(index));
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  let slowest = 0;
  for (let index = first; index < COUNT; index += PARTS) {
    const command = inputAt(index);
    const start = process.threadCpuUsage();
    judge(command);
    const { user, system } = process.threadCpuUsage(start);
    slowest = Math.max(slowest, (user + system) / 1000);
  }
  collectGarbage();
  return { slowest, memory: Math.max(0, process.memoryUsage().heapUsed - before) / 1_048_576 };
}

function judge(command: string): void {
  evaluatePolicy(policy, { kind: "command", command, cwd: "/srv/app" });
}
