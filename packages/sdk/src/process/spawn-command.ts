import { CodexError } from "../errors.ts";

/** Arguments for `spawn`. */
export interface SpawnCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly windowsVerbatimArguments: boolean;
}

/**
 * Returns how to spawn a file with arguments. Windows runs `.cmd` files only through cmd.exe, and Node refuses to start them
 * without a shell because arguments could be interpreted as commands. They are quoted here.
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
  // /d ignores AutoRun commands in the registry; /s removes only the outermost quotes.
  return {
    command: comspec || "cmd.exe",
    args: ["/d", "/s", "/c", `"${line}"`],
    windowsVerbatimArguments: true,
  };
}

/** Quotes an argument for the C runtime of the program that the batch file starts, then twice for cmd.exe. */
function quoteForBatch(argument: string): string {
  if (/[\r\n\0]/.test(argument)) {
    throw new CodexError(
      "invalid_argument",
      `A .cmd file can't receive an argument with a line break: ${JSON.stringify(argument)}. Pass the path of codex.exe instead.`,
    );
  }
  // Backslashes are special only before a quote, including the closing one.
  const quoted = `"${argument.replaceAll(/(?<slashes>\\*)"/g, '$<slashes>$<slashes>\\"').replace(/(?<slashes>\\*)$/, "$<slashes>$<slashes>")}"`;
  // Once for the command line, once for the batch file's `%*`.
  return escapeForCmd(escapeForCmd(quoted));
}

function escapeForCmd(text: string): string {
  return text.replaceAll(/[()[\]%!^"`<>&|;, *?]/g, "^$&");
}
