import { messageOf } from "@codexkit/rpc/async";
import { TomlError } from "smol-toml";
import { runFileOperation } from "../../files/operations.ts";
import { pathUri } from "../../wire/path-uri.ts";
import { CODES, Refusal } from "../../wire/refusal.ts";
import { parseToml, type TomlTable } from "./project-toml.ts";

/** An existing file and its text. */
interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

/**
 * The error for configuration that can't be loaded. The rest of the configuration is not used then, because it could allow what
 * the missing part forbids.
 */
export function configFailure(why: string): Refusal {
  return new Refusal(CODES.internal, `failed to load executor-local config: ${why}`);
}

/**
 * Reads a file with `fs/readFile`, which does not block on named pipes. Resolves to undefined if it does not
 * exist.
 */
export async function readConfigFile(path: string, kind = "config file"): Promise<ConfigFile | undefined> {
  try {
    const bytes = (await runFileOperation("fs/readFile", { path: pathUri(path) })) as Buffer;
    return { path, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    if (error instanceof Refusal && error.rpcCode === CODES.notFound) return undefined;
    throw configFailure(`Failed to read ${kind} ${path}: ${messageOf(error)}`);
  }
}

/** Parses a file as TOML. Returns an empty table if there is no file. */
export function parseConfigFile(file: ConfigFile | undefined): TomlTable {
  if (!file) return {};
  try {
    return parseToml(file.text);
  } catch (error) {
    throw configFailure(`${file.path}:${tomlFault(error)}`);
  }
}

export async function readToml(path: string, kind?: string): Promise<TomlTable | undefined> {
  const file = await readConfigFile(path, kind);
  return file && parseConfigFile(file);
}

/**
 * Describes a TOML error by position and message. Leaves out the lines of the file that the parser's message
 * quotes, because they may contain a secret.
 */
function tomlFault(error: unknown): string {
  const [what = ""] = messageOf(error).split("\n");
  return error instanceof TomlError ? `${error.line}:${error.column}: ${what}` : ` ${what}`;
}
