import { expect, it } from "vitest";
import { splitShell } from "./split-shell.ts";

it.each([
  ["/bin/bash -lc 'npm test && ls'", "/bin/bash -lc", "npm test && ls"],
  ["bash -c ls", "bash -c", "ls"],
  [`bash -c "echo \\"hi\\""`, "bash -c", `echo "hi"`],
  [String.raw`/usr/bin/zsh -lc "echo 'a' \"b\" \$HOME"`, "/usr/bin/zsh -lc", String.raw`echo 'a' "b" $HOME`],
  [String.raw`sh -c 'it'\''s'`, "sh -c", "it's"],
  [`/usr/local/bin/dash -c 'it'"'"'s'`, "/usr/local/bin/dash -c", "it's"],
  ["bash  -lc   'ls'  ", "bash -lc", "ls"],
])("splits %j", (command, shell, script) => {
  expect(splitShell(command)).toEqual({ shell, script });
});

it.each([
  "",
  "git status",
  "bash script.sh",
  "bash -lc 'one' two",
  "bash -lc ls; rm x",
  'bash -lc "echo $HOME"',
  "fish -c ls",
])("keeps %j, which is not one script in a shell", (command) => {
  expect(splitShell(command)).toEqual({ shell: null, script: command });
});

it.each([
  "/tmp/x/bash -c ls",
  "./bash -lc ls",
  "bin/bash -c ls",
  "/bin/../tmp/bash -lc ls",
  "/home/me/bin/bash -c ls",
  "/local/bin/bash -c ls",
])("keeps %j, because its program is not in a folder of the system", (command) => {
  expect(splitShell(command)).toEqual({ shell: null, script: command });
});
