import { ExecClient } from "@codexkit/exec-server/client";
import { connectHarness } from "@codexkit/relay";
import { findCodex } from "@codexkit/testing";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { rootCertificates } from "node:tls";
import { setTimeout as delay } from "node:timers/promises";
import { firstLine, ourProgram, stop } from "../exec-server/servers.ts";

/** One client, and a folder to work in. */
export interface RelayContender {
  readonly client: ExecClient;
  readonly folder: string;
}

export interface RelayContestants extends AsyncDisposable {
  /** Our harness and our executor through the relay. */
  readonly ours: RelayContender;
  /** The same without the reliability extension. */
  readonly plain: RelayContender;
  /** Our harness and Codex's executor through the same relay. */
  readonly codex: RelayContender;
  /** The same client on our exec-server, without a relay. */
  readonly direct: RelayContender & { readonly url: string };
  readonly registryUrl: string;
  readonly tokens: { readonly execute: string; readonly connect: string };
}

const require = createRequire(import.meta.url);

/** How long an executor may take to connect. */
const START_MS = 20_000;

/** A registry, two executors and an exec-server, each in its own process, with clients in this one. */
export async function startEnds(): Promise<RelayContestants> {
  await using stack = new AsyncDisposableStack();
  const folder = await realpath(await mkdtemp(join(tmpdir(), "codexkit-bench-relay-")));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const [execProgram = ""] = ourProgram();
  const root = dirname(require.resolve("@codexkit/relay/package.json"));
  execFileSync("tsc", ["-b", root], { stdio: ["ignore", "ignore", "inherit"] });
  const program = join(root, "bin/codexkit-relay.mjs");
  const home = join(folder, "home");
  await mkdir(home);
  const start = (command: string, args: readonly string[], env: Record<string, string> = {}) => {
    const child = spawn(command, args, {
      env: { ...process.env, HOME: home, CODEX_HOME: home, TMPDIR: folder, ...env },
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
    stack.defer(() => stop(child));
    return child;
  };
  const store = join(folder, "registry");
  const listening = ["registry", "serve", "--listen", "127.0.0.1:0", "--store", store];
  const registryUrl = await firstLine(start(process.execPath, [program, ...listening]));
  const createToken = (scope: string): string => {
    const admin = ["--url", registryUrl, "--token-file", join(store, "admin-token"), "--all-environments"];
    const args = [program, "registry", "token", "create", scope, "--scope", scope, ...admin];
    return execFileSync(process.execPath, args, { encoding: "utf8" }).trim().split("\n").at(-1) ?? "";
  };
  const tokens = { execute: createToken("execute"), connect: createToken("connect") };
  const remote = (id: string): string[] => ["--remote", registryUrl, "--environment-id", id];
  await firstLine(
    start(process.execPath, [program, "executor", ...remote("ours")], {
      CODEXKIT_RELAY_TOKEN: tokens.execute,
    }),
  );
  const certificate = join(folder, "certificate.pem");
  // Codex creates no HTTP client if it finds no certificates at all.
  await writeFile(certificate, rootCertificates[0] ?? "");
  start(findCodex().path, ["exec-server", ...remote("codex")], {
    CODEX_API_KEY: tokens.execute,
    SSL_CERT_FILE: certificate,
  });
  const url = await firstLine(start(process.execPath, [execProgram]));
  const connect = async (environmentId: string, reliability = true): Promise<RelayContender> => {
    const options = { registryUrl, environmentId, credential: tokens.connect, reliability };
    return { client: stack.use(await retry(() => connectHarness(options))), folder };
  };
  const direct = { client: stack.use(await ExecClient.connect(url)), folder, url };
  const contestants = {
    ours: await connect("ours"),
    plain: await connect("ours", false),
    codex: await connect("codex"),
    direct,
    registryUrl,
    tokens,
  };
  const owner = stack.move();
  return { ...contestants, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

async function retry<Value>(run: () => Promise<Value>): Promise<Value> {
  const until = performance.now() + START_MS;
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (performance.now() > until) throw error;
      await delay(100);
    }
  }
}

/** Number of streams that are opened at the same time. */
const CONNECTING = 50;

/**
 * Returns the milliseconds until many executors with several streams each have all run `true`, and how many
 * did.
 */
export async function runManyExecutors(
  { registryUrl, tokens, direct }: RelayContestants,
  executors: number,
  streams: number,
): Promise<{ time: number; finished: number }> {
  const child = spawn(
    process.execPath,
    [
      "--conditions=codexkit:source",
      join(import.meta.dirname, "many-executors.ts"),
      registryUrl,
      direct.url,
      String(executors),
    ],
    { env: { ...process.env, CODEXKIT_RELAY_TOKEN: tokens.execute }, stdio: ["pipe", "pipe", "inherit"] },
  );
  try {
    await once(child.stdout, "data");
    await using clients = new AsyncDisposableStack();
    const begun = performance.now();
    let finished = 0;
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < executors * streams) {
        const environmentId = `many-${next++ % executors}`;
        // Kept open until the end, so that all streams exist at once.
        const client = clients.use(
          await connectHarness({ registryUrl, environmentId, credential: tokens.connect }),
        );
        const command = await client.start({ argv: ["/bin/true"], cwd: "/" });
        const { exitCode } = await command.wait();
        if (exitCode === 0) finished += 1;
      }
    };
    await Promise.all(Array.from({ length: CONNECTING }, worker));
    return { time: performance.now() - begun, finished };
  } finally {
    child.stdin.end();
    if (child.exitCode === null) await once(child, "exit");
  }
}
