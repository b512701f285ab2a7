import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { SCOPES } from "./api/route.ts";
import type { TokenStore } from "./tokens/token-store.ts";

/** Creates the first token of a store, with all scopes, in a file that only its owner can read. */
export async function createFirstToken(
  tokens: TokenStore,
  stateFolder: string,
  logger: Logger,
): Promise<void> {
  if (await tokens.hasAny()) return;
  const { token } = await tokens.create({ name: "first", scopes: [...SCOPES], by: "daemon" });
  const file = join(stateFolder, "token");
  // An existing file would keep its mode.
  await rm(file, { force: true });
  await writeFile(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  logger.info({ file }, "created the first token");
}
