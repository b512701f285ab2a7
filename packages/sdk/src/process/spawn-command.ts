import { CodexError } from "../errors.ts";

/** What to give to `spawn`. */
export interface SpawnCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly windowsVerbatimArguments: boolean;
}

/**
 * How to run a file with arguments. Windows runs `.cmd` files only through cmd.exe, and Node refuses to start them
 * without a shell, because arguments could then be read as commands: here they are quoted for it.
 */
export function spawnCommand(
  path: string,
  args: readonly string[],
  { platform = process.platform, comspec = process.env["ComSpec"], node = process.execPath } = {},
): SpawnCommand {
  if (platform !== "win32") return { command: path, args, windowsVerbatimArguments: false };
  if (/\.[cm]?js$/i.test(path))
    return { command: node, args: [path, ...args], windowsVerbatimArguments: false };
  if (!/\.(?:cmd|bat)$/i.test(path)) return { command: path, args, windowsVerbatimArguments: false };
  const line = [escapeForCmd(path.replaceAll("/", "\\")), ...args.map(quoteForBatch)].join(" ");
  // /d: no AutoRun commands of the registry; /s: only the outermost quotes are taken off.
  return {
    command: comspec || "cmd.exe",
    args: ["/d", "/s", "/c", `"${line}"`],
    windowsVerbatimArguments: true,
  };
}

/** One argument, first for the C runtime of the program behind the batch file, then twice for cmd.exe. */
function quoteForBatch(argument: string): string {
  if (/[\r\n\0]/.test(argument)) {
    throw new CodexError(
      "invalid_argument",
      `A .cmd file can't be given an argument with a line break: ${JSON.stringify(argument)}. Pass the path of codex.exe instead.`,
    );
  }
  // Backslashes count only before a quote, and the closing quote is one.
  const quoted = `"${argument.replaceAll(/(?<slashes>\\*)"/g, '$<slashes>$<slashes>\\"').replace(/(?<slashes>\\*)$/, "$<slashes>$<slashes>")}"`;
  // Once for the command line, once for the `%*` with which the batch file hands its arguments on.
  return escapeForCmd(escapeForCmd(quoted));
}

function escapeForCmd(text: string): string {
  return text.replaceAll(/[()[\]%!^"`<>&|;, *?]/g, "^$&");
}
