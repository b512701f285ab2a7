import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { RelayError } from "../../errors.ts";
import type { RegistryLimits } from "../limits.ts";
import type { RegistryLogLevel } from "../options.ts";
import { tuneGarbageCollector } from "../../used-buffers.ts";
import { startRegistryWith } from "../start-registry.ts";
import type { ListenAddress } from "@codexkit/rpc";

export interface ServeOptions {
  readonly listen: ListenAddress;
  readonly logLevel: RegistryLogLevel;
  readonly store?: string;
  readonly publicUrl?: string;
  readonly nodeUrl?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tokenFile?: string;
  readonly auditFile?: string;
  readonly limit?: Partial<RegistryLimits>;
}

/** Runs a registry until SIGINT, SIGTERM or SIGHUP. Prints its URL when it is ready. */
export async function serve(options: ServeOptions): Promise<void> {
  const { listen, logLevel, store, publicUrl, nodeUrl, tokenFile, auditFile, limit } = options;
  const tls = await readTls(options);
  tuneGarbageCollector();
  await using registry = await startRegistryWith(
    {
      host: listen.host,
      port: listen.port,
      logger: logLevel,
      ...(store !== undefined && { store }),
      ...(publicUrl !== undefined && { publicUrl }),
      ...(nodeUrl !== undefined && { nodeUrl }),
      ...(tokenFile !== undefined && { tokenFile }),
      ...(auditFile !== undefined && { auditFile }),
      ...(limit && { limits: limit }),
      ...(tls && { tls }),
    },
    {},
  );
  // Installed before the URL is printed. SIGHUP is sent when the terminal is closed.
  const stopped = Promise.race(["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => once(process, signal)));
  process.stdout.write(`${registry.url}\n`);
  await stopped;
}

async function readTls({
  tlsCert,
  tlsKey,
}: ServeOptions): Promise<{ cert: string; key: string } | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new RelayError("bad_option", "--tls-cert and --tls-key belong together.");
  }
  return { cert: await read("--tls-cert", tlsCert), key: await read("--tls-key", tlsKey) };
}

async function read(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new RelayError("bad_option", `${flag}: ${path} can't be read.`, { cause: error });
  }
}
