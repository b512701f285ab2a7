// A process with a proxy reaches nothing but that proxy, and nothing of the proxy outlives the process.
import { tempFolder } from "@codexkit/testing";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proxyParams, READ_ONLY, startWeb, visit, WAYS } from "./network.ts";
import { startProgram } from "./servers.ts";
import { ExecClient, type StartOptions } from "../src/client/exec-client.ts";
import { ExecServer } from "../src/server/exec-server.ts";
import type { SandboxContext } from "../src/wire/sandbox-context.ts";

const HOST = "127.0.0.1";
const OPEN: SandboxContext = { permissions: { type: "disabled" }, windowsSandboxLevel: "disabled" };
const everything = proxyParams({ domains: { "*": "allow", [HOST]: "allow" }, allowLocalBinding: true });

let stack: AsyncDisposableStack;
let server: ExecServer;
let client: ExecClient;
let folder: string;
let web: number;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  folder = stack.use(await tempFolder("network")).path;
  web = stack.use(await startWeb()).port;
  server = stack.use(await ExecServer.start());
  client = stack.use(await ExecClient.connect(server.url ?? ""));
});

afterAll(() => stack.disposeAsync());

function start(argv: readonly string[], more: Partial<StartOptions> = {}) {
  return client.start({ argv: [...argv], cwd: "/", sandbox: READ_ONLY, networkProxy: everything, ...more });
}

async function run(argv: readonly string[], more: Partial<StartOptions> = {}) {
  const { stdout, stderr, exitCode } = await (await start(argv, more)).collect();
  return { out: stdout.toString("latin1"), err: String(stderr), exitCode };
}

const sh = (script: string, more: Partial<StartOptions> = {}) => run(["/bin/bash", "-c", script], more);

/** What Node in the sandbox gets from a connection. */
const connecting = (target: object) => [
  process.execPath,
  "-e",
  `require("net").connect(${JSON.stringify(target)}).on("connect",()=>{console.log("OUT");process.exit()}).on("error",(e)=>{console.log(e.code);process.exit()})`,
];

/** Codex's sandbox that restricts nothing but the network, too. */
const sandboxes: [string, SandboxContext][] = [
  ["a restricted sandbox", READ_ONLY],
  ["a sandbox that restricts nothing", OPEN],
  [
    "a sandbox with the network open",
    {
      ...READ_ONLY,
      permissions: { ...READ_ONLY.permissions, network: "enabled" } as SandboxContext["permissions"],
    },
  ],
];

describe.each(sandboxes)("in %s", (_what, sandbox) => {
  test("no address of this machine is reached directly", async () => {
    const addresses = Object.values(networkInterfaces()).flatMap(
      (list) => list?.map(({ address }) => address) ?? [],
    );
    for (const host of new Set([HOST, "0.0.0.0", ...addresses.filter((address) => !address.includes(":"))])) {
      const { out } = await run(connecting({ host, port: web }), { sandbox });
      expect(out.trim()).toMatch(/^(ECONNREFUSED|ENETUNREACH|EHOSTUNREACH)$/);
    }
  });

  test("no socket in the file system is reached", async () => {
    const path = join(folder, `s${Math.random()}`);
    const daemon = createServer((socket) => socket.destroy());
    daemon.listen(path);
    await once(daemon, "listening");
    const { out } = await run(connecting({ path }), { sandbox });
    daemon.close();
    expect(out.trim()).toBe("EPERM");
  });

  test("no datagram gets out", async () => {
    const receiver = createSocket("udp4");
    const received: string[] = [];
    receiver.on("message", (bytes) => received.push(String(bytes)));
    receiver.bind(0, HOST);
    await once(receiver, "listening");
    const { port } = receiver.address();
    await sh(`echo inside > /dev/udp/${HOST}/${port}`, { sandbox });
    // One from here, to see that what was sent before it would have come.
    const sender = createSocket("udp4");
    sender.send("outside", port, HOST);
    while (!received.includes("outside")) await once(receiver, "message");
    sender.close();
    receiver.close();
    expect(received).toEqual(["outside"]);
  });

  test.each(WAYS)("the proxy is reached (%s)", async (way) => {
    expect((await run(visit(way, HOST, web), { sandbox })).out).toContain("a page");
  });
});

describe("the server itself", () => {
  test.each(WAYS)("is not reached through the proxy, whatever the policy allows (%s)", async (way) => {
    const port = Number(new URL(server.url ?? "").port);
    const decisions: string[] = [];
    const { out } = await run(visit(way, HOST, port), {
      onNetworkRequest: () => "allow",
      onNetworkDecision: ({ decision, reason }) => decisions.push(`${decision} ${reason}`),
    });
    expect(out).not.toContain("200");
    expect(decisions).toEqual(["deny not_allowed_local"]);
  });

  test("is not reached however its address is written", { timeout: 120_000 }, async () => {
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const spellings = [
      "127.0.0.1 127.1 127.0.1 127.0.0.1. 127.255.255.254 0 0.0.0.0 0.0.0.1",
      "2130706433 017700000001 0177.0.0.1 0x7f000001 0x7f.0.0.1 0X7F.1 127.0x0.01",
      "[::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1]",
      "[::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [2002:7f00:1::] [::1%25lo] [::1%lo] ::1",
      "localhost LOCALHOST localhost. localhost.. a.localhost localhost%2e",
      "１２７.0.0.1 127。0。0。1 ⓛocalhost local\u00adhost user@127.0.0.1",
      hostname(),
      ...addresses.map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address)),
    ].flatMap((group) => group.split(" "));
    const prober = join(import.meta.dirname, "proxy-prober.mjs");
    const probe = (port: number, hosts: readonly string[]) =>
      run([process.execPath, prober, String(port), JSON.stringify(hosts)], {
        onNetworkRequest: () => "allow",
      });
    const own = await probe(Number(new URL(server.url ?? "").port), spellings);
    expect(own).toMatchObject({ out: "done\n", err: "" });
    // The same attempts reach another port.
    const others = await probe(web, ["127.0.0.1", "0x7f000001"]);
    expect(others.out.split("\n").length).toBeGreaterThan(6);
  });
});

describe("what can't be enforced is refused", () => {
  const refused = expect.objectContaining({ rpcCode: -32602 });

  test("a proxy without a sandbox: there would be another way out", async () => {
    await expect(start(["true"], { sandbox: null })).rejects.toEqual(refused);
  });

  test("a managed network without a proxy", async () => {
    const without = { networkProxy: null };
    await expect(start(["true"], { ...without, enforceManagedNetwork: true })).rejects.toEqual(refused);
    await expect(start(["true"], { managedNetwork: { loopbackPorts: [1] } })).rejects.toEqual(refused);
  });

  test("a restriction that is not known", async () => {
    const unknown = { proxy: { ...everything.proxy, mitmHooks: [] } } as never;
    await expect(start(["true"], { networkProxy: unknown })).rejects.toEqual(refused);
  });

  test("a disk on which our own program can't run", async () => {
    const hidden: SandboxContext = {
      ...READ_ONLY,
      permissions: {
        type: "managed",
        network: "restricted",
        file_system: { type: "restricted", entries: [] },
      },
    };
    await expect(start(["true"], { sandbox: hidden })).rejects.toEqual(refused);
  });

  test("every proxy where there is no bubblewrap, which is said beforehand", async () => {
    expect(client.environment?.capabilities).toMatchObject({ networkProxyLaunch: true });
    await using without = await ExecServer.start({ bwrap: null });
    await using other = await ExecClient.connect(without.url ?? "");
    expect(other.environment?.capabilities).toMatchObject({ networkProxyLaunch: false });
    const options = { argv: ["true"], cwd: "/", sandbox: OPEN, networkProxy: everything };
    await expect(other.start(options)).rejects.toEqual(refused);
  });
});

describe("the command is as it would be without", () => {
  test("its signals, its name, its folder, its variables, and no file of ours", async () => {
    const { out, err } = await sh(
      `yes | head -1; echo "$0 $PWD $A $NODE_CHANNEL_FD."; ls -l /proc/self/fd | grep -c socket`,
      {
        arg0: "other",
        cwd: folder,
        env: { PATH: "/usr/bin:/bin", A: "b", NODE_OPTIONS: "--require /no/such" },
      },
    );
    expect(out).toBe(`y\nother ${folder} b .\n0\n`);
    expect(err).toBe("");
  });

  test("its input, its exit code and its PTY", async () => {
    const piped = await start(["/bin/bash", "-c", "read line; echo got $line; exit 7"], { pipeStdin: true });
    await piped.stdin.write("this\n");
    const { stdout, exitCode } = await piped.collect();
    expect([String(stdout), exitCode]).toEqual(["got this\n", 7]);
    const { out } = await run(["/bin/bash", "-c", `tty; ${visit("http", HOST, web)[2]}`], { tty: true });
    // So bubblewrap calls it.
    expect(out).toMatch(/^\/dev\/console/);
    expect(out).toContain("a page");
  });

  test("on a disk that is hidden", async () => {
    const sandbox: SandboxContext = {
      ...READ_ONLY,
      permissions: {
        type: "managed",
        network: "restricted",
        file_system: {
          type: "restricted",
          entries: [{ path: { type: "special", value: { kind: "minimal" } }, access: "read" }],
        },
      },
    };
    const { out } = await run(["bash", ...visit("http", HOST, web).slice(1)], { sandbox });
    expect(out).toContain("a page");
  });

  test("when there is none", async () => {
    const { err, exitCode } = await run(["no-such-program"]);
    expect([err, exitCode]).toEqual(["no-such-program: ENOENT\n", 127]);
  });

  test("from a snapshot of its shell", async () => {
    const script = visit("http", HOST, web)[2] ?? "";
    const shellSnapshot = { scopeId: "s", shell: { name: "bash", path: "/bin/bash" } };
    for (let round = 0; round < 2; round += 1) {
      const { out } = await run(["/bin/bash", "-lc", script], { shellSnapshot });
      expect(out).toContain("a page");
    }
  });
});

/** The processes of this machine that have these words in their command line. */
async function withArgument(words: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  return lines.filter((line) => line.includes(words));
}

describe("nothing is left", () => {
  const sockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP")).length;

  /** A process that holds a tunnel to a server of ours: what that server sees of it. */
  async function holdTunnel(on: ExecClient) {
    const accepted = Promise.withResolvers<Socket>();
    const target = createServer((socket) => {
      socket.on("error", () => {});
      accepted.resolve(socket.resume());
    });
    target.listen(0, HOST);
    await once(target, "listening");
    const { port } = target.address() as AddressInfo;
    const held = await on.start({
      argv: ["/bin/bash", "-c", `${visit("connect", HOST, port)[2]}; sleep 300`],
      cwd: "/",
      sandbox: READ_ONLY,
      networkProxy: everything,
    });
    const closed = once(await accepted.promise, "close").finally(() => target.close());
    return { held, closed };
  }

  test("when the process is over", async () => {
    const before = sockets();
    await run(visit("http", HOST, web));
    await expect.poll(sockets).toBeLessThanOrEqual(before);
  });

  test("when it is killed", async () => {
    const before = sockets();
    const { held, closed } = await holdTunnel(client);
    await held.kill();
    await closed;
    await expect.poll(sockets).toBeLessThanOrEqual(before);
  });

  test("when the server ends", async () => {
    const before = sockets();
    const other = await ExecServer.start();
    const its = await ExecClient.connect(other.url ?? "");
    const { held, closed } = await holdTunnel(its);
    held.wait().catch(() => {});
    await other.close();
    await closed;
    await its.close();
    await expect.poll(sockets).toBeLessThanOrEqual(before);
  });

  test("of the process itself, when the server is killed", async () => {
    await using program = await startProgram("ours", []);
    const its = await ExecClient.connect(program.url, { resume: false });
    const mark = `300.${process.pid}`;
    for (const tty of [false, true]) {
      const argv = ["/bin/bash", "-c", `echo up; exec sleep ${mark}`];
      const started = await its.start({ argv, cwd: "/", tty, sandbox: READ_ONLY, networkProxy: everything });
      await started[Symbol.asyncIterator]().next();
    }
    expect((await withArgument(mark)).length).toBeGreaterThan(1);
    process.kill(program.process?.child.pid ?? 0, "SIGKILL");
    await expect.poll(() => withArgument(mark)).toEqual([]);
    await its.closed;
  });

  test("of a question to which the process did not wait for an answer", async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<"allow">();
    const process = await start(visit("http", "10.0.0.1", 9), {
      onNetworkRequest: () => {
        asked.resolve();
        return answer.promise;
      },
      networkProxy: proxyParams({ allowLocalBinding: true }),
    });
    await asked.promise;
    await process.kill();
    await process.wait();
    answer.resolve("allow");
    await expect(client.request("environment/status", undefined)).resolves.toEqual({ status: "ready" });
  });
});

test("twenty processes with a proxy each are served at once", async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => run(visit("socks", HOST, web))));
  expect(all.every(({ out }) => out.includes("a page"))).toBe(true);
});
