import { findFreePort } from "@codexkit/testing";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { measurePage, type PageSize } from "./page-size.ts";

/** A console that is published on npm. Uses the npm registry that this machine is configured for. */
interface Peer {
  readonly package: string;
  readonly version: string;
  /** Folder of the page inside the package. Undefined if its files are inside a binary. */
  readonly folder?: string;
  /** Starts a server for the page. */
  readonly serve?: {
    readonly program: string;
    readonly args: (port: number) => readonly string[];
    readonly env?: (port: number) => Readonly<Record<string, string>>;
    readonly path: string;
  };
}

const PEERS = {
  opencode: {
    package: "opencode-linux-x64",
    version: "1.18.33",
    serve: {
      program: "bin/opencode",
      args: (port) => ["serve", "--hostname", "127.0.0.1", "--port", String(port)],
      path: "/",
    },
  },
  hapi: {
    package: "@twsxtd/hapi-linux-x64",
    version: "0.30.7",
    serve: {
      program: "bin/hapi",
      args: () => ["hub"],
      env: (port) => ({ HAPI_LISTEN_PORT: String(port) }),
      path: "/",
    },
  },
  cloudcli: { package: "@cloudcli-ai/cloudcli", version: "1.37.3", folder: "dist" },
  "sandbox-agent": {
    package: "@sandbox-agent/cli-linux-x64",
    version: "0.4.2",
    serve: {
      program: "bin/sandbox-agent",
      args: (port) => ["server", "--no-token", "--host", "127.0.0.1", "--port", String(port)],
      path: "/ui/",
    },
  },
} as const satisfies Record<string, Peer>;

export type PeerName = keyof typeof PEERS;

/** How long a server may take to start. */
const START_MS = 60_000;

/** How long it may take to answer one request. */
const ANSWER_MS = 5_000;

/** Downloads a peer into a temporary folder and measures its page. */
export async function measurePeer(name: PeerName, signal: AbortSignal): Promise<PageSize> {
  const peer: Peer = PEERS[name];
  const folder = await mkdtemp(join(tmpdir(), "codexkit-peer-"));
  try {
    const { stdout } = await promisify(execFile)(
      "npm",
      ["pack", "--silent", "--pack-destination", folder, `${peer.package}@${peer.version}`],
      { cwd: folder, signal },
    );
    await promisify(execFile)("tar", ["xzf", stdout.trim()], { cwd: folder, signal });
    const root = join(folder, "package");
    if (peer.folder !== undefined) {
      const page = join(root, peer.folder);
      const html = await readFile(join(page, "index.html"), "utf8");
      return await measurePage(html, async (path) => readFile(join(page, path)));
    }
    if (!peer.serve) throw new Error(`${name} has neither a folder nor a server.`);
    return await measureServed(join(root, peer.serve.program), peer.serve, { folder, signal });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureServed(
  program: string,
  { args, env, path }: NonNullable<Peer["serve"]>,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<PageSize> {
  const port = await findFreePort();
  // npm sets it when it installs a package.
  await chmod(program, 0o755);
  const child = spawn(program, args(port), {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, TMPDIR: folder, ...env?.(port) },
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  try {
    const url = new URL(path, `http://127.0.0.1:${port}`);
    const html = await (await fetchWhenReady(url, signal)).text();
    return await measurePage(html, async (file) => (await fetch(new URL(file, url), { signal })).bytes());
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

async function fetchWhenReady(url: URL, signal: AbortSignal): Promise<Response> {
  const until = Date.now() + START_MS;
  for (;;) {
    // A server may accept a connection while it is starting, and then forget it.
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    const response = await fetch(url, { signal: limit }).catch(() => undefined);
    signal.throwIfAborted();
    if (response?.ok) return response;
    if (Date.now() > until) throw new Error(`${url.href} did not answer within ${START_MS} ms.`);
    await delay(100, undefined, { signal });
  }
}
