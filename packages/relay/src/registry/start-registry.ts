import { messageOf } from "@codexkit/rpc/async";
import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type DestinationStream, type Logger, pino } from "pino";
import { RelayError } from "../errors.ts";
import { AuditLog } from "./audit-log.ts";
import { Access } from "./http/access.ts";
import { createApp } from "./http/app.ts";
import { startHttpServer } from "./http/http-server.ts";
import { createUpgradeHandler } from "./http/upgrade.ts";
import { Metrics } from "./metrics.ts";
import { LinkTokenVerifier } from "./nodes/link-token.ts";
import { LiveChecks } from "./nodes/live-checks.ts";
import { NodeLinks } from "./nodes/node-links.ts";
import { type RegistryLogLevel, type RegistryOptions, resolveOptions } from "./options.ts";
import { Registry } from "./registry.ts";
import type { FrameFilter } from "./rendezvous/rendezvous-counters.ts";
import { Rendezvous } from "./rendezvous/rendezvous.ts";
import { newSecret, redactSecrets } from "./store/secrets.ts";
import { openRegistryStore } from "./store/registry-store.ts";
import type { TokenStore } from "./store/token-store.ts";

/** For tests of this repository only. */
export interface RegistryInternals {
  readonly frameFilter?: FrameFilter;
  readonly auditDestination?: DestinationStream;
}

/** Starts a registry with internal hooks. */
export async function startRegistryWith(
  options: RegistryOptions,
  { frameFilter, auditDestination }: RegistryInternals,
): Promise<Registry> {
  const { limits, ...resolved } = resolveOptions(options);
  await using started = new AsyncDisposableStack();
  const logger = toLogger(resolved.logger);
  const onWarning = (error: unknown): void =>
    logger.warn({ reason: redactSecrets(messageOf(error)) }, "registry");
  const store = started.use(
    await openRegistryStore({
      location: resolved.location,
      leaseMs: limits.leaseMs,
      limits: resolved.storeLimits,
      onWarning,
    }),
  );
  const file =
    resolved.auditFile === undefined ? undefined : started.use(openAuditFile(resolved.auditFile, onWarning));
  const destination = auditDestination ?? file?.stream;
  const { auditedRefusalsPerMinute } = limits;
  const audit = destination
    ? AuditLog.to(destination, auditedRefusalsPerMinute)
    : new AuditLog(auditLogger(logger), auditedRefusalsPerMinute);
  const rendezvous = started.use(new Rendezvous({ limits, frameFilter }));
  const secret = await store.nodes.linkSecret();
  const links = new NodeLinks(secret);
  const metrics = new Metrics(rendezvous, links);
  const access = new Access(store.tokens, limits.failuresPerMinute);
  let isClosing = false;
  let publicUrl = resolved.publicUrl;
  const nodeId = randomUUID();
  const app = createApp({
    store,
    access,
    audit,
    metrics,
    logger,
    limits,
    publicUrl: () => publicUrl ?? "",
    isClosing: () => isClosing,
  });
  const upgrades = createUpgradeHandler({
    store,
    rendezvous,
    links,
    linkTokens: new LinkTokenVerifier(secret, nodeId),
    nodeId,
    access,
    audit,
    limits,
    onWarning,
    isClosing: () => isClosing,
  });
  // Executors that connect immediately must not count as offline, so the node registers before it listens if it knows its URL.
  if (resolved.nodeUrl !== undefined) {
    await store.nodes.register(nodeId, resolved.nodeUrl);
    // If the start fails.
    started.defer(() => store.nodes.retire(nodeId).catch(() => {}));
  }
  const server = await startHttpServer(app, {
    host: resolved.host,
    port: resolved.port,
    tls: resolved.tls,
    limits,
    onUpgrade: upgrades.onUpgrade,
  });
  started.defer(() => server.close(0));
  publicUrl ??= server.url;
  const nodeUrl = resolved.nodeUrl ?? server.url;
  if (resolved.nodeUrl === undefined) await store.nodes.register(nodeId, nodeUrl);
  const checks = started.use(
    new LiveChecks({ store, nodeId, nodeUrl, rendezvous, links, leaseMs: limits.leaseMs, onWarning }),
  );
  if (resolved.tokenFile !== undefined) await createFirstToken(store.tokens, resolved.tokenFile);
  audit.record({ event: "node.started", detail: { node: nodeId, url: nodeUrl } });
  // From here on, the registry closes them.
  started.move();
  return new Registry({
    store,
    server,
    rendezvous,
    links,
    checks,
    nodeId,
    publicUrl,
    settled: upgrades.settled,
    onClosing: () => (isClosing = true),
    onClosed: () => {
      audit.record({ event: "node.stopped", detail: { node: nodeId } });
      file?.[Symbol.dispose]();
    },
  });
}

/**
 * Creates the first token of a store, in a file that only its owner can read. The file is written before the token is stored.
 * Otherwise, a failed write would leave a store that can't be managed.
 */
async function createFirstToken(tokens: TokenStore, file: string): Promise<void> {
  if (await tokens.hasAny()) return;
  const token = newSecret("token");
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    // An existing file would keep its mode.
    await rm(file, { force: true });
    await writeFile(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new RelayError(
      "bad_option",
      `The file of the first token, ${file}, can't be written${reasonOf(error)}.`,
      {
        cause: error,
      },
    );
  }
  await tokens.create({ name: "first", scopes: ["admin"] }, token);
}

/** Maximum number of unwritten lines that are kept while the disk is full. */
const UNWRITTEN_AUDIT_BYTES = 1024 * 1024;

/**
 * Writes lines synchronously, because the last events before a crash matter most. A full disk does not stop the registry: lines
 * wait until there is space, and are lost beyond a limit.
 */
function openAuditFile(
  path: string,
  onWarning: (error: Error) => void,
): Disposable & { readonly stream: DestinationStream } {
  let stream: ReturnType<typeof pino.destination>;
  try {
    stream = pino.destination({
      dest: path,
      append: true,
      mkdir: true,
      mode: 0o600,
      sync: true,
      maxLength: UNWRITTEN_AUDIT_BYTES,
    });
  } catch (error) {
    throw new RelayError("bad_option", `The audit log, ${path}, can't be opened${reasonOf(error)}.`, {
      cause: error,
    });
  }
  let isFailing = false;
  stream.on("write", () => (isFailing = false));
  stream.on("error", (error: unknown) => {
    if (!isFailing) onWarning(new Error(`The audit log, ${path}, can't be written${reasonOf(error)}.`));
    isFailing = true;
  });
  return { stream, [Symbol.dispose]: () => stream.end() };
}

function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
}

/** The level applies to messages, but not to audit events. Only `silent` applies to both. */
function auditLogger(logger: Logger): Logger {
  return logger.level === "silent" ? logger : logger.child({}, { level: "info" });
}

function toLogger(logger: RegistryLogLevel | Logger): Logger {
  return typeof logger === "string" ? pino({ level: logger, base: null }, pino.destination(2)) : logger;
}
