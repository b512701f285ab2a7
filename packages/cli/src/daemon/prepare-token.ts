import type { Daemon } from "@codexkit/daemon";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CliError, EXIT } from "../errors/cli-error.ts";

/**
 * Returns the token file for commands on this machine. By default it is the file that the daemon creates for
 * a new store, or null if the user has deleted it or revoked the token. A file that the user names is
 * created, or must contain a valid token.
 */
export async function prepareToken(
  daemon: Daemon,
  stateFolder: string,
  given: string | undefined,
): Promise<string | null> {
  const path = given === undefined ? join(stateFolder, "token") : resolve(given);
  const token = await readToken(path);
  if (token !== undefined && (await daemon.tokens.verify(token))) return path;
  if (given === undefined) return null;
  if (token !== undefined) {
    throw new CliError(EXIT.usage, `The token in ${path} is not a valid token of this store.`, {
      hint: "Delete the file to get a new one, or name another file.",
    });
  }
  const created = await daemon.tokens.create({
    name: `codexkit serve (${path})`.slice(0, MAX_NAME),
    scopes: ["read", "write", "approve", "admin"],
    by: "codexkit serve",
  });
  await writeToken(path, created.token);
  return path;
}

const MAX_NAME = 128;

async function readToken(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new CliError(EXIT.usage, `The token file ${path} can't be read (${code}).`, { cause: error });
  }
}

async function writeToken(path: string, token: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // An existing file would keep its mode.
    await rm(path, { force: true });
    await writeFile(path, `${token}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    throw new CliError(EXIT.failed, `The token file ${path} can't be written (${code}).`, { cause: error });
  }
}
