import { TomlError } from "smol-toml";
import { runFileOperation } from "../../files/operations.ts";
import { pathUri } from "../../wire/path-uri.ts";
import { CODES, Refusal } from "../../wire/refusal.ts";
import { parseToml, type TomlTable } from "./project-toml.ts";

/** A file that is there, and its text. */
interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

/** The answer when configuration can't be loaded: half of it could allow what the other half forbids. */
export function configFailure(why: string): Refusal {
  return new Refusal(CODES.internal, `failed to load executor-local config: ${why}`);
}

/** Reads a file as `fs/readFile` does, which waits for no named pipe. Undefined when there is none. */
export async function readConfigFile(path: string, kind = "config file"): Promise<ConfigFile | undefined> {
  try {
    const bytes = (await runFileOperation("fs/readFile", { path: pathUri(path) })) as Buffer;
    return { path, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    if (error instanceof Refusal && error.rpcCode === CODES.notFound) return undefined;
    throw configFailure(`Failed to read ${kind} ${path}: ${reason(error)}`);
  }
}

/** The file as TOML; an empty table when there is no file. */
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

/** Where the fault is and what it is. The parser's message goes on to quote the lines around, which may hold a secret. */
function tomlFault(error: unknown): string {
  const [what = ""] = reason(error).split("\n");
  return error instanceof TomlError ? `${error.line}:${error.column}: ${what}` : ` ${what}`;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
