// The script inside a command line of Codex, for displays. Also for browsers: it imports no Node modules.
export { type ShellScript, splitShell, unquote } from "./split-shell.ts";
