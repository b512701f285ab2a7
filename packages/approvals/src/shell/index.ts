// The script inside Codex's command lines, for displays. Also works in browsers, because it imports no Node modules.
export { type ShellScript, splitShell, unquote } from "./split-shell.ts";
