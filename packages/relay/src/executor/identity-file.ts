import { randomBytes } from "node:crypto";
import { open, writeFile } from "node:fs/promises";
import { z } from "zod";
import { RelayError } from "../errors.ts";
import { identityFromSeeds, type RelayIdentity } from "../noise/identity.ts";

const identitySchema = z.strictObject({ version: z.literal(1), x25519: z.base64(), mlkem: z.base64() });

/**
 * Reads the private keys of an executor, so that its public key stays the same across restarts. Creates the file, for its
 * owner alone, if it is missing.
 */
export async function openIdentityFile(path: string): Promise<RelayIdentity> {
  return (await readIdentity(path)) ?? createIdentity(path);
}

async function readIdentity(path: string): Promise<RelayIdentity | undefined> {
  let text: string;
  try {
    await using file = await open(path);
    assertPrivate(path, (await file.stat()).mode);
    text = await file.readFile("utf8");
  } catch (cause) {
    if (RelayError.is(cause)) throw cause;
    if (codeOf(cause) === "ENOENT") return undefined;
    throw new RelayError("bad_option", `--identity-file: ${path} can't be read (${codeOf(cause)}).`, {
      cause,
    });
  }
  try {
    const { x25519, mlkem } = identitySchema.parse(JSON.parse(text));
    return identityFromSeeds({ x25519: Buffer.from(x25519, "base64"), mlkem: Buffer.from(mlkem, "base64") });
  } catch {
    // The cause may quote the file, which holds private keys.
    throw new RelayError(
      "bad_option",
      `--identity-file: ${path} is not a file with the keys of an executor.`,
    );
  }
}

/** Refuses a file that other users can read or change, as ssh does. Windows has no such permissions. */
function assertPrivate(path: string, mode: number): void {
  if (process.platform === "win32" || (mode & 0o077) === 0) return;
  const permissions = (mode & 0o777).toString(8);
  throw new RelayError(
    "bad_option",
    `--identity-file: ${path} holds private keys, but other users can access it (permissions ${permissions}). Run: chmod 600 ${path}`,
  );
}

async function createIdentity(path: string): Promise<RelayIdentity> {
  const seeds = { x25519: randomBytes(32), mlkem: randomBytes(64) };
  const text = JSON.stringify({
    version: 1,
    x25519: seeds.x25519.toString("base64"),
    mlkem: seeds.mlkem.toString("base64"),
  });
  await writeFile(path, `${text}\n`, { mode: 0o600, flag: "wx" }).catch((cause: unknown) => {
    throw new RelayError("bad_option", `--identity-file: ${path} can't be created (${codeOf(cause)}).`, {
      cause,
    });
  });
  const identity = identityFromSeeds(seeds);
  seeds.x25519.fill(0);
  seeds.mlkem.fill(0);
  return identity;
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
}
