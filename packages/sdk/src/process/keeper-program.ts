// Keeps an app-server running after the program that launched it has died, for a successor to attach to. Ends it when no client
// is connected for the grace period, or if that program dies before a successor can know of the server. Clients also connect to
// this program, so that it can count them; it forwards what they send.
import { rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { claimKeeperFolder, removeKeeperFolder } from "./keeper-folder.ts";
import type { KeeperReady, KeeperSettings } from "./keeper-settings.ts";
import { OwnedProcess } from "./owned-process.ts";
import { ManifestFile } from "./owner-manifest.ts";

const LIMITS = {
  /** How long codex may take to listen. */
  listenTimeoutMs: 20_000,

  pollIntervalMs: 20,
  /** How long the launching program may take to connect, regardless of the grace period. */
  firstClientTimeoutMs: 30_000,
} as const;

// The launching program may have exited. Then nothing reads the output.
process.stdout.on("error", () => {});
process.stderr.on("error", () => {});

const orders = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { value: settings = "" } = (await orders.next()) as { value?: string };
process.exitCode = await keep(JSON.parse(settings) as KeeperSettings);

/** Resolves to the exit code when the server has ended and its files are removed. */
async function keep(given: KeeperSettings): Promise<number> {
  claimKeeperFolder(given.folder);
  const ending = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => ending.abort());
  const confirmed = orders.next().then(({ done }) => {
    // The launching program has died, or has given up.
    if (done === true) ending.abort();
  });
  let codex: OwnedProcess | undefined;
  let server: Server | undefined;
  try {
    codex = startCodex(given);
    const ended = codex.ended.then(({ code }) => code ?? 1);
    const isListening = await waitUntilListening(given, codex, ending.signal);
    const { pid: codexPid } = codex;
    if (!isListening || codexPid === undefined) return await ended;
    const listening = await listen(given);
    ({ server } = listening);
    process.stdout.write(`${JSON.stringify({ codexPid } satisfies KeeperReady)}\n`);
    const unused = confirmed.then(() => waitUntilUnused(listening, given.graceMs));
    return await Promise.race([ended, unused, aborted(ending.signal)]);
  } finally {
    server?.close();
    await codex?.stop("SIGTERM");
    removeKeeperFolder(given.folder);
    // Any open handle belongs to a client of the ended server.
    setImmediate(() => process.exit());
  }
}

function startCodex(given: KeeperSettings): OwnedProcess {
  const { command, args, cwd, env, mark, limits } = given;
  return new OwnedProcess({
    command,
    args,
    cwd,
    env,
    mark,
    limits,
    manifest: new ManifestFile(given.ownersFolder, mark),
    onStderr: (line) => void process.stderr.write(`${line}\n`),
  });
}

/** Resolves to false if codex ended or was stopped before it listened. */
async function waitUntilListening(
  { codexSocketPath }: KeeperSettings,
  codex: OwnedProcess,
  signal: AbortSignal,
): Promise<boolean> {
  const until = Date.now() + LIMITS.listenTimeoutMs;
  while (!(await canConnect(codexSocketPath))) {
    if (signal.aborted) await codex.stop("SIGTERM");
    if (await codex.endedWithin(0)) return false;
    if (Date.now() > until) throw new Error(`Codex did not listen within ${LIMITS.listenTimeoutMs} ms.`);
    await delay(LIMITS.pollIntervalMs);
  }
  return true;
}

function canConnect(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

interface Listening {
  readonly server: Server;
  readonly clients: ReadonlySet<Socket>;
  onChange: () => void;
}

async function listen({ socketPath, codexSocketPath }: KeeperSettings): Promise<Listening> {
  const clients = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    clients.add(client);
    listening.onChange();
    let codex: Socket | undefined;
    const end = (): void => {
      client.destroy();
      codex?.destroy();
      if (clients.delete(client)) listening.onChange();
    };
    client.on("error", end).on("close", end);
    // A client that is connected to codex itself sends nothing here. It connects only to be counted.
    client.once("readable", () => {
      const first = client.read() as Buffer | null;
      if (first === null) return end();
      codex = connect({ path: codexSocketPath, allowHalfOpen: true }).on("error", end).on("close", end);
      codex.write(first);
      client.pipe(codex).pipe(client);
    });
  });
  const listening: Listening = { server, clients, onChange: () => {} };
  // A socket file without a listener was left by a killed server.
  if (!(await canConnect(socketPath))) rmSync(socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  return listening;
}

/** Resolves when no client was connected for the grace period. */
function waitUntilUnused(listening: Listening, graceMs: number): Promise<number> {
  return new Promise((resolve) => {
    const done = (): void => resolve(0);
    let timer: NodeJS.Timeout | undefined;
    if (listening.clients.size === 0)
      timer = setTimeout(done, Math.max(graceMs, LIMITS.firstClientTimeoutMs));
    listening.onChange = () => {
      clearTimeout(timer);
      if (listening.clients.size === 0) timer = setTimeout(done, graceMs);
    };
  });
}

function aborted(signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(0);
    signal.addEventListener("abort", () => resolve(0), { once: true });
  });
}
