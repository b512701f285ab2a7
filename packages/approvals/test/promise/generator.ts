import fc from "fast-check";
import type {
  CommandDeclaration,
  Operands,
  OptionDeclaration,
  ProgramDeclaration,
  Role,
} from "../../src/programs/declaration/declaration.ts";

type Words = fc.Arbitrary<string>;

/** Paths inside and outside the workspace, some of them written so that this is not obvious. */
const PATHS = [
  "a.txt",
  "b.txt",
  "words.txt",
  "data.json",
  "src",
  "src/index.ts",
  "src/deep",
  "new.txt",
  "build",
  ".",

  "./a.txt",
  "src/../a.txt",
  "'name with blanks.txt'",
  "README.md",
  "archive.tgz",
  "bin/tool",
  "package.json",
  "..",
  "../home/notes.txt",
  "../outside/data.txt",
  "../outside/new.txt",
  "../canary/x",
  "../home",
  "/",

  "~",
  "~/notes.txt",
  "~/.bashrc",
  "$HOME/notes.txt",
  '"$HOME/.ssh/id_ed25519"',
  "${HOME}/new.txt",
  "$PWD/a.txt",
  "home-link/notes.txt",
  "home-link",
  "outside-link/new.txt",
  "file-link",
  "inner-link",
  "dangling-link",

  "src/../../home/notes.txt",
  "outside-link/../home/new.txt",
  "home-link/../outside/data.txt",
  "git-link/config",

  ".git/config",
  ".git/hooks/pre-commit",
  ".g*/config",
  ".git",
  ".github/workflows/ci.yml",
  "AGENTS.md",
  ".env",

  "*",
  "*.txt",
  "src/*.ts",
  "./*",
  ".*",
  "-*",
  "../*/data.txt",
  "{a,b}.txt",
  "src/{index,util}.ts",
  "[ab].txt",

  "-rf",
  "./-rf",
  "--",
  "-",
  "/dev/null",
  "/dev/stdout",
  "/proc/self/cwd/a.txt",
  "/proc/self/root",
  "/tmp/x",

  ".vscode/tasks.json",
  "bin/ls",
  "./bin/run.sh",
  "bin",
  "/etc/passwd",
  "//etc//passwd",
  "a.txt/",
  "a.txt/.",
];

const DATA = [
  "x",
  "hello world",
  "1",
  "10",
  "a.*b",
  "^TODO",
  "s/a/b/",
  "s/a/b/w ../home/x",
  "p",
  "1,3p",
  "{print $1}",
  "e",

  '{print > "../home/x"}',
  'BEGIN{system("touch ../canary/x")}',
  ".a[0]",
  "%s\\n",
  "HEAD",
  "main",
  "v1",
  "feature",

  "1e touch ../canary/x",
  "u+x",
  "755",
  "-r",
  "+%Y",
  "*.ts",
  "f",
  "d",
  "origin",
  "A",
  "name",
  "s/x/touch ..\\/canary\\/x/e",
];

const HOSTILE = [
  "-o",
  "--output=../home/out",
  "--outp=../home/out",
  "-exec",
  "--exec=touch ../canary/x",
  "-delete",
  "-e",
  "-c",

  "--to-command=touch",
  "--checkpoint-action=exec=touch",
  "-I",
  "--use-compress-program=touch",
  "--files0-from=a.txt",

  "-fprint",
  "../home/out",
  "-t",
  "--target-directory=../home",
  "--backup",
  "-w",
  "-f",
  "-i",
  "--in-place",
  "-ok",

  "$(touch ../canary/x)",
  "`touch ../canary/x`",
  "<(touch ../canary/x)",
  "$((1+1))",
  "${HOME}",
  "$x",
  "\\",
  '"$@"',

  "--git-dir=../outside",
  "-c core.pager=touch",
  "--ext-diff",
  "--textconv",
  "-T",
  "--rsh=touch",
  "-S",
  "--split-string=touch ../canary/x",
];

const ENVIRONMENT = [
  "CI=1",
  "LANG=C",
  "NODE_ENV=test",
  "PATH=bin",
  "HOME=../home",
  "GIT_DIR=../outside",
  "LD_PRELOAD=./x.so",
  "IFS=x",

  "BASH_ENV=bin/run.sh",
  "ENV=bin/run.sh",
  "PAGER='touch ../canary/x'",
  "GIT_PAGER=cat",
  "EDITOR=bin/tool",
  "PS4=x",

  "x=1",
  "dir=src",
  "file=../home/new.txt",
  "LESSOPEN='|touch ../canary/x'",
  "TMPDIR=../home",
  "GREP_OPTIONS=-r",
];

const quote = (text: string): string =>
  /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;

const path: Words = fc.constantFrom(...PATHS);
const data: Words = fc.oneof(fc.constantFrom(...DATA).map(quote), { arbitrary: path, weight: 1 });
const hostile: Words = fc.constantFrom(...HOSTILE);

function wordFor(role: Role | undefined, commands: Words): Words {
  if (role === undefined) return data;
  if (role instanceof RegExp) return data;
  if (typeof role !== "string") return role.length === 0 ? data : fc.constantFrom(...role).map(quote);
  switch (role) {
    case "number":
      return fc.constantFrom("0", "1", "2", "10", "+1", "1k");
    case "data":
    case "pattern":
    case "remote":
    case "package":
      return data;
    case "command":
      return commands;
    case "code":
    case "shell":
      return fc.constantFrom("'touch ../canary/x'", "'echo x'", "'cat a.txt'", "'echo x > ../home/x'");
    case "host":
    case "url":
    case "send-host":
    case "send-url":
      return fc.constantFrom(
        "127.0.0.1:8080",
        "http://127.0.0.1:8080/x",
        "http://[::1]:8080",
        "localhost",
        "file:///etc/passwd",
      );
    default:
      return path;
  }
}

function optionWord(name: string, { argument, role }: OptionDeclaration, commands: Words): Words {
  const plain = name === "-NUMBER" ? "-3" : name;
  if (argument === "none") return fc.constant(plain);
  const word = wordFor(role, commands);
  const isLong = name.startsWith("--");
  const attached = word.map((text) => (isLong ? `${plain}=${text}` : `${plain}${text}`));
  if (argument === "attached") return fc.oneof(fc.constant(plain), attached);
  return fc.oneof(
    word.map((text) => `${plain} ${text}`),
    attached,
  );
}

function operandWords({ first = [], rest, last }: Operands, commands: Words): Words {
  const lists = [
    ...first.map((role) => wordFor(role, commands)),
    ...(rest === undefined ? [] : [wordFor(rest, commands), wordFor(rest, commands)]),
    ...(last === undefined ? [] : [wordFor(last, commands)]),
  ];
  if (lists.length === 0) return fc.constant("");
  // Includes fewer operands than declared.
  return fc
    .tuple(fc.tuple(...lists), fc.integer({ min: Math.max(0, lists.length - 2), max: lists.length }))
    .map(([words, count]) => words.slice(0, count).join(" "));
}

function commandWords(command: CommandDeclaration, commands: Words): Words {
  const options = Object.entries(command.options ?? {}).flatMap(([key, option]) =>
    key.split(", ").map((name) => optionWord(name, option, commands)),
  );
  const chosen =
    options.length === 0 ? fc.constant<string[]>([]) : fc.array(fc.oneof(...options), { maxLength: 3 });
  const operands = fc.oneof(
    { arbitrary: operandWords(command.operands ?? {}, commands), weight: 5 },
    { arbitrary: fc.array(path, { maxLength: 3 }).map((words) => words.join(" ")), weight: 1 },
  );
  const strange = fc.oneof({ arbitrary: fc.constant(""), weight: 8 }, { arbitrary: hostile, weight: 1 });
  const own = fc
    .tuple(chosen, strange, operands)
    .map(([words, odd, rest]) => [...words, odd, rest].join(" "));
  const subcommands = Object.entries(command.subcommands ?? {});
  if (subcommands.length === 0) return own;
  const nested = subcommands.map(([name, inner]) =>
    commandWords(inner, commands).map((words) => `${name} ${words}`),
  );
  return fc.oneof(
    {
      arbitrary: fc
        .tuple(fc.oneof(fc.constant(""), own), fc.oneof(...nested))
        .map((parts) => parts.join(" ")),
      weight: 9,
    },
    { arbitrary: own, weight: 1 },
  );
}

const redirection: Words = fc.oneof(
  fc
    .tuple(fc.constantFrom(">", ">>", "2>", "<", "&>", ">|", "3>", "<>"), path)
    .map(([sign, target]) => `${sign} ${target}`),
  fc.constantFrom("2>&1", ">/dev/null", "2>/dev/null", "<<< 'echo x'", "1>&2", ">&-"),
);

/** Generates scripts of these programs: calls as declared, with all syntax that shells put around calls. */
export function scripts(programs: readonly ProgramDeclaration[]): Words {
  const { script } = fc.letrec<{ call: string; simple: string; script: string }>((tie) => {
    const inner = tie("call");
    const calls = programs.map((program) =>
      fc
        .tuple(fc.constantFrom(...program.names), commandWords(program, inner))
        .map(([name, words]) => `${name} ${words}`),
    );
    const wrapped = fc
      .tuple(
        fc.constantFrom(
          "timeout 1",
          "env",
          "nice",
          "env CI=1",
          "command",
          "time",
          "xargs",
          "nohup",
          "exec",
          "eval",
        ),
        inner,
      )
      .map((parts) => parts.join(" "));
    const call = fc.oneof({ maxDepth: 2, depthSize: "small" }, ...calls, wrapped);
    const simple = fc
      .tuple(
        fc.oneof(
          { arbitrary: fc.constant(""), weight: 7 },
          { arbitrary: fc.constantFrom(...ENVIRONMENT), weight: 1 },
        ),
        tie("call"),
        fc.oneof({ arbitrary: fc.constant(""), weight: 3 }, { arbitrary: redirection, weight: 1 }),
      )
      .map((parts) => parts.filter((part) => part !== "").join(" "));
    const one = tie("simple");
    const two = fc.tuple(one, one);
    const compound = fc.oneof(
      fc
        .tuple(one, fc.constantFrom(" && ", " || ", "; ", " | ", "\n", " & "), one)
        .map((parts) => parts.join("")),
      fc.tuple(fc.constantFrom(...PATHS), one).map(([folder, next]) => `cd ${folder} && ${next}`),
      fc
        .tuple(fc.constantFrom("a.txt b.txt", "*.txt", "../home/notes.txt", "$(ls)"), one)
        .map(([list, next]) => `for f in ${list}; do ${next} "$f"; done`),
      two.map(([first, second]) => `if ${first}; then ${second}; fi`),
      two.map(([first, second]) => `${first} "$(${second})"`),
      two.map(([first, second]) => `(${first}); { ${second}; }`),
      one.map((body) => `${body} <<'END'\ntouch ../canary/x\nEND`),
      one.map((body) => `while read -r line; do ${body} "$line"; done < a.txt`),
      fc.tuple(path, one).map(([target, next]) => `ln -s ../home new-link; ${next} new-link/x ${target}`),
      fc.tuple(path, one).map(([target, next]) => `dir=${target}; ${next} "$dir"`),
    );
    return {
      call,
      simple,
      script: fc.oneof({ arbitrary: one, weight: 3 }, { arbitrary: compound, weight: 2 }),
    };
  });
  return script;
}

/** Whether a program can run other code, according to its declaration. */
export function runsOtherCode(command: CommandDeclaration): boolean {
  const text = JSON.stringify(command, (_, value: unknown) => (value instanceof RegExp ? "" : value));
  return /"(?:code|container|execute|inline-code|install|project-code|script|shell|stdin-code|unpack)"/.test(
    text,
  );
}
