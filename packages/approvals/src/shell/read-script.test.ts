import { describe, expect, it } from "vitest";
import type { Dialect, PlainCommand } from "./plain-script.ts";
import { readScript } from "./read-script.ts";

function read(source: string, dialect: Dialect = "bash") {
  return readScript(source, { dialect, home: "/home/me", folders: ["/srv/app"] });
}

/** Formats a command as `program args >file`, with its folders if they are not just the first one. */
function show({ words, redirects, folders, input, environment }: PlainCommand): string {
  const parts = [
    ...environment.map(({ name, value }) => `${name}=${value.text ?? "?"}`),
    ...words.map(({ text, isGlob, maySplit }) =>
      text === undefined ? (maySplit === true ? "??" : "?") : isGlob === true ? `glob:${text}` : text,
    ),
    ...redirects.map(({ kind, path }) => `${kind === "write" ? ">" : "<"}${path.text}`),
    ...(input.kind === "pipe" ? ["(pipe)"] : []),
    ...(input.kind === "text" ? [`(text ${JSON.stringify(input.text)})`] : []),
  ];
  return folders.join() === "/srv/app" ? parts.join(" ") : `${parts.join(" ")} @${folders.join()}`;
}

describe("a plain script", () => {
  it.each<readonly [string, readonly string[]]>([
    ["ls -la src", ["ls -la src"]],
    ["a && b || c; d\ne & f", ["a", "b", "c", "d", "e", "f"]],
    ["a 'b c' \"d e\" f\\ g h\\\ni", ["a b c d e f g hi"]],
    ["cat x | grep y | wc -l", ["cat x", "grep y (pipe)", "wc -l (pipe)"]],
    ["ls *.ts src/?.js", ["ls glob:*.ts glob:src/?.js"]],
    ["echo '*' \"a*\"", ["echo * a*"]],
    ['cat ~/x $HOME/y "${HOME}/z" ~', ["cat /home/me/x /home/me/y /home/me/z /home/me"]],
    ['echo $? "$$" $USER "$LANG"', ["echo ? ? ?? ?"]],
    ["ls > out 2>&1 < in 2>> err", ["ls >out <in >err"]],
    ["cat <<'EOF' > a\n$x `y`\nEOF", ['cat >a (text "$x `y`\\n")']],
    ["cat <<-EOF\n\tx\n\tEOF\nls", ['cat (text "x\\n")', "ls"]],
    ["cat <<EOF\n$HOME\nEOF", ["cat (text undefined)"]],
    ["cat <<< 'a b'", ['cat (text "a b")']],
    ["cd src && ls; pwd", ["cd src", "ls @/srv/app/src", "pwd @/srv/app/src,/srv/app"]],
    ["(cd src; ls); pwd", ["cd src", "ls @/srv/app/src,/srv/app", "pwd"]],
    ["cd a/../b && ls $PWD", ["cd a/../b", "ls /srv/app/b @/srv/app/b"]],
    ["cd && ls", ["cd", "ls @/home/me"]],
    ["for f in a 'b c'; do cat \"$f\" $f.txt; done", ["cat a a.txt", "cat b c ??"]],
    ['for f in *.ts; do cat "$f"; done', ["cat glob:*.ts"]],
    ["for i in {1..2}; do echo $i; done", ["echo 1", "echo 2"]],
    ["while true; do ls; sleep 1; done", ["true", "ls", "sleep 1"]],
    ["if [ -f a ]; then b; elif c; then d; else e; fi", ["[ -f a ]", "b", "c", "d", "e"]],
    ["[[ -f a && $x == y ]] && ls".replace("$x", "$?"), ["ls"]],
    ["{ a; b; } > out", [" >out".trim(), "a", "b"]],
    ['echo $(git rev-parse HEAD) "$(ls)"', ["git rev-parse HEAD", "ls", "echo ?? ?"]],
    ['echo "$(pwd)/x"', ["echo /srv/app/x"]],
    ["NODE_ENV=test npm test", ["NODE_ENV=test npm test"]],
    ['file=src/a.ts; cat "$file"', ["cat src/a.ts"]],
    ["time ls", ["time", "ls"]],
    ["! grep x y", ["grep x y"]],
    ["set -euo pipefail; ls", ["set -euo pipefail", "ls"]],
    ["ls # rm -rf /", ["ls"]],
    ["find . -name x -exec rm {} \\;", ["find . -name x -exec rm {} ;"]],
    ["export CI=1 && ls", ["CI=1 export CI=1", "ls"]],
    ["ls &> out", ["ls >out"]],
    ["echo $'a\\nb'", ["echo a\nb"]],
  ])("%s", (source, expected) => {
    const { commands, problem } = read(source);
    expect(problem ?? commands.map(show)).toEqual(expected);
  });

  it("is read with and without brace expansion if its shell is not known", () => {
    const script = readScript("mkdir -p src/{a,b}", { dialect: "unknown", home: "/home/me", folders: ["/"] });
    expect(script.commands.map(({ words }) => words.map(({ text }) => text))).toEqual([
      ["mkdir", "-p", "src/a", "src/b"],
      ["mkdir", "-p", "src/{a,b}"],
    ]);
  });

  it("is read with every combination of several lists", () => {
    const [command] = read("ls a{b,c}{d,e}").commands;
    expect(command?.words.map(({ text }) => text)).toEqual(["ls", "abd", "abe", "acd", "ace"]);
  });

  it.each([
    "eval ls",
    "source script.sh x",
    ". x",
    "trap 'ls' EXIT",
    "f() { ls; }; f",
    "alias ls=rm",
    "a=(1 2); ls",
    "a[0]=1",
    "a+=b",
    "read x; ls",
    "cat <(ls)",
    "echo $((1+1))",
    "echo $[1+1]",
    "((x=1))",
    "let x=1",
    "echo ${x:-y}",
    "echo ${!x}",
    "echo ${HOME//a/b}",
    "echo ${p@P}",
    "echo `ls`",
    "echo $1",
    "echo $SECRET",
    "$cmd x",
    "echo $'\\x72m'",
    "PATH=. ls; \\cd ..; cd -",
    "for LANG in zh_TW.BIG5; do sed p x; done",
    "PS4='$(ls)'; set -o allexport",
    "ls 3> x",
    "ls {fd}> x",
    "cat 3<<EOF\nx\nEOF",
    "ls >& file",
    "ls 2>&-",
    "ls <> x",
    "exec 1> x",
    "case x in x) ls;; esac",
    "select x in a; do ls; done",
    "coproc ls",
    "for x; do ls; done",
    "for PATH in .; do ls; done",
    "for path in .; do ls; done",
    "for ((i=0;i<3;i++)); do ls; done",
    "shopt -s extglob",
    "ls !(a)",
    "ls ~root/x",
    "ls ~+/x",
    "ls a:~/x",
    "make a=~/x",
    "ls =ls",
    "ls | cd x",
    "for d in a b; do cd $d; done",
    "while true; do ls & done",
    "true && x=1; ls $x",
    "if a; then x=1; fi; ls $x",
    "[[ x -eq y ]]",
    "[[ -v x ]]",
    "command cd x; declare x=1",
    "history -a x",
    "jobs -x ls",
    "unset x",
    "ls \u00a0x",
    "ls \u200bx",
    "ls {a,{b,c}}",
    "cat <<E'O'F\nx\nEOF",
    "cat <<EOF\nx",
    "echo 'x",
    "if true; then",
    "cat <<EOF\n$((1))\nEOF",
    "cat <<EOF\n${x:=`ls`}\nEOF",
    "#!/bin/sh\nls",
  ])("is not %s", (source) => {
    expect(read(source).problem).toEqual(expect.any(String));
  });

  it.each(["ls &> x", "[[ -f a && -f b ]]", "[[ a < b ]]", "echo $'a'", "[[ ( -f a ) ]]"])(
    "is read only if the shell is known: %s",
    (source) => {
      expect(read(source).problem).toBeUndefined();
      expect(read(source, "unknown").problem).toEqual(expect.any(String));
    },
  );

  it.each([
    ["words", `echo ${"a ".repeat(5_000)}`],
    ["commands", "ls;".repeat(500)],
    ["nested loops", `${"for i in 1 2 3 4 5 6 7 8 9 10; do ".repeat(5)}echo $i ${"; done".repeat(5)}`],
    ["nested braces", "{a,{b,".repeat(100)],
    ["here-documents", "cat <<A\nx\nA\n".repeat(20)],
    ["nested substitutions", `echo ${"$(echo ".repeat(20)}x${")".repeat(20)}`],
    ["syntax", `ls ${"x".repeat(20_000)}`],
    ["everything", "a".repeat(1_100_000)],
  ])("has a limit on its %s", (_, source) => {
    expect(read(source).problem).toEqual(expect.any(String));
  });

  it("may contain a long here-document", () => {
    const body = "export const x = { a: [1, 2], b: () => ({}) }; // it's <<data>>\n".repeat(2_000);
    expect(read(`cat > a.ts <<'END'\n${body}END\n`).commands[0]?.input).toEqual({ kind: "text", text: body });
  });
});
