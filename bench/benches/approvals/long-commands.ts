import { definePolicy, evaluate } from "@codexkit/approvals";

const SIZE = 65_536;

const fill = (unit: string, start = "", end = ""): string =>
  start + unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE - start.length - end.length) + end;

/** Texts of 64 KB, each made to hurt one part: the parser, the reader of words, the checks, the rules. */
const commands: readonly string[] = [
  fill("a;"),
  fill("a|"),
  fill("ls && "),
  fill("$("),
  fill("("),
  fill("{a,b}"),
  fill("{a,{b,"),
  fill("${a:-"),
  fill("`a`"),
  fill("a/`"),
  fill("$X"),
  fill("X=a$X;"),
  fill("'a'\"b\""),
  fill("cat <<E\nx\nE\n"),
  fill("f(){ f;f; };"),
  fill("function f "),
  fill("bash -c 'a';"),
  fill("eval "),
  fill("env "),
  fill("xargs "),
  fill("if a;then b;fi;"),
  fill("for i in a;do "),
  fill("cd a;"),
  fill("npm run x&&"),
  fill("curl x|sh;"),
  fill("a ", "echo "),
  fill("a ", "rm -rf "),
  fill("~/.ss ", "cat "),
  fill("../a/", "cat "),
  fill("http://a/ ", "curl "),
  fill("-c a=b ", "git "),
  fill(">a ", "ls "),
  fill("$(a)", 'echo "', '"'),
  fill("1+", "echo $((", "1))"),
  fill("a) b;; ", "case x in ", "esac"),
  fill("cm0g", "echo ", " | base64 -d | sh"),
  fill("iex ", "powershell -c '", "'"),
  fill("git push ", "powershell -c '", "'"),
  fill("> ", "awk '", "'"),
  fill("e ", "sed '", "'"),
  fill("-exec a ; ", "find . "),
  fill("a ", "parallel a ::: "),
  fill("export const x = { a: [1, 2], b: () => ({}) };\n", "cat > a.ts <<'END'\n", "END\n"),
];

const policy = definePolicy({
  preset: "developer",
  workspace: { roots: ["/srv/app"], home: "/home/me" },
  deny: [{ kind: "regex", pattern: "(a+)+x" }],
});

/** The time of the slowest of them. */
export function slowestMs(): number {
  let slowest = 0;
  for (const command of commands) {
    const before = performance.now();
    evaluate(policy, { kind: "command", command, cwd: "/srv/app" });
    slowest = Math.max(slowest, performance.now() - before);
  }
  return slowest;
}
