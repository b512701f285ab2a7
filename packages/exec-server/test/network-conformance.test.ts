// One suite for our server and for Codex's own: what a process can reach through its proxy, and who is asked and told.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proxyParams, READ_ONLY, startWeb, visit, type Way, WAYS } from "./network.ts";
import { type CuttableProxy, cuttableProxy } from "./cuttable-proxy.ts";
import { startServer } from "./servers.ts";
import type { NetworkDecision, NetworkProxyParams, ProxiedRequest } from "../src/wire/network-proxy.ts";
import { ExecClient, type StartOptions } from "../src/client/exec-client.ts";

const kinds = ["ours", "codex"] as const;
const HOST = "127.0.0.1";
/** Codex's own names of the ways. */
const PROTOCOLS = { http: "http", connect: "https_connect", socks: "socks5_tcp" } as const;
const allowed = { domains: { [HOST]: "allow" } } as const;

describe.each(kinds)("a process with a proxy on %s", (kind) => {
  let stack: AsyncDisposableStack;
  let client: ExecClient;
  let proxy: CuttableProxy;
  let port: number;

  beforeAll(async () => {
    stack = new AsyncDisposableStack();
    ({ port } = stack.use(await startWeb()));
    const server = stack.use(await startServer(kind));
    proxy = stack.use(await cuttableProxy(server.url));
    client = stack.use(await ExecClient.connect(proxy.url));
  });

  afterAll(() => stack.disposeAsync());

  /** Runs a command with a proxy: what it printed, and what was decided. */
  async function run(
    argv: [string, ...string[]],
    networkProxy: NetworkProxyParams,
    more: Partial<StartOptions> = {},
  ) {
    const decisions: NetworkDecision[] = [];
    const process = await client.start({
      argv,
      cwd: "/",
      networkProxy,
      sandbox: READ_ONLY,
      // Without it Codex's server sets the variables and leaves every other way open.
      enforceManagedNetwork: true,
      onNetworkDecision: (decision) => decisions.push(decision),
      ...more,
    });
    const { stdout, stderr, exitCode } = await process.collect();
    return { out: stdout.toString("latin1"), err: String(stderr), exitCode, decisions };
  }

  test("finds it in its environment", async () => {
    const { out } = await run(["/usr/bin/env"], proxyParams());
    const names = out.split("\n").flatMap((line) => /^(?<name>\w+)=/.exec(line)?.groups?.["name"] ?? []);
    expect(names.toSorted()).toEqual(VARIABLES);
    expect(out).toMatch(/^HTTPS_PROXY=http:\/\/127\.0\.0\.1:\d+$/m);
    expect(out).toMatch(/^ALL_PROXY=socks5h:\/\/127\.0\.0\.1:\d+$/m);
    expect(out).toMatch(/^NO_PROXY=$/m);
    const local = await run(["/usr/bin/env"], proxyParams({ allowLocalBinding: true, enableSocks5: false }));
    expect(local.out).toMatch(/^NO_PROXY=localhost,127\.0\.0\.1,::1,10\.0\.0\.0\/8,/m);
    expect(local.out).toMatch(/^ALL_PROXY=http:/m);
    expect(local.out).toMatch(/^CODEX_NETWORK_ALLOW_LOCAL_BINDING=1$/m);
  });

  test("has no other way out", async () => {
    const { out, err } = await run(
      ["/bin/bash", "-c", `exec 3<>/dev/tcp/${HOST}/${port} && echo OUT; cat /proc/net/dev`],
      proxyParams({ ...allowed, allowLocalBinding: true }),
    );
    expect(err).toMatch(/Connection refused/);
    expect(out.match(/^ *\w+:/gm)).toEqual(["    lo:"]);
  });

  test.each(WAYS)("reaches what its policy allows (%s)", async (way) => {
    const { out, decisions } = await run(visit(way, HOST, port), proxyParams(allowed));
    expect(out).toContain("a page");
    expect(decisions).toEqual([
      {
        processId: expect.any(String),
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        scope: "domain",
        decision: "allow",
        source: "baseline_policy",
        reason: "allow",
        protocol: PROTOCOLS[way],
        host: HOST,
        port,
        ...(way === "socks" ? {} : { method: way === "http" ? "GET" : "CONNECT" }),
        client: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
        policyOverride: false,
      },
    ]);
  });

  /** Blocked, and told so in the way of its protocol. */
  function expectBlocked(out: string, way: Way): void {
    expect(out).not.toContain("a page");
    expect(out.startsWith(way === "socks" ? "\u0005\u0000\u0005\u0002" : "HTTP/1.1 403 ")).toBe(true);
  }

  /** Blocked with a body that says why. */
  function expectReason(out: string, reason: string): void {
    expectBlocked(out, "http");
    const body = JSON.parse(out.slice(out.indexOf("{"), out.lastIndexOf("}") + 1)) as object;
    expect(body).toMatchObject({ status: "blocked", host: HOST, reason, protocol: "http", port });
    expect(Object.keys(body).join(" ")).toBe("status host reason decision source protocol port message");
  }

  test.each(WAYS)("is told what is blocked (%s)", async (way) => {
    const { out, decisions } = await run(visit(way, HOST, port), proxyParams({ allowLocalBinding: true }));
    expectBlocked(out, way);
    expect(decisions).toMatchObject([{ decision: "deny", source: "baseline_policy", reason: "not_allowed" }]);
  });

  test.each(WAYS)("can't reach this machine unless it is named (%s)", async (way) => {
    const { out, decisions } = await run(visit(way, HOST, port), proxyParams({ domains: { "*": "allow" } }));
    expectBlocked(out, way);
    expect(decisions).toMatchObject([{ decision: "deny", reason: "not_allowed_local" }]);
  });

  test("can't reach what is denied, whatever else allows it", async () => {
    const domains = { "*": "allow", [HOST]: "deny" } as const;
    const { out } = await run(visit("http", HOST, port), proxyParams({ domains, allowLocalBinding: true }));
    expectReason(out, "denied");
    expect(out).toMatch(/^x-proxy-error: blocked-by-denylist\r$/m);
  });

  test.each(WAYS)("has its client asked about what is not settled (%s)", async (way) => {
    const asked: ProxiedRequest[] = [];
    const { out, decisions } = await run(visit(way, HOST, port), proxyParams({ allowLocalBinding: true }), {
      onNetworkRequest: (request) => {
        asked.push(request);
        return "allow";
      },
    });
    expect(out).toContain("a page");
    expect(asked).toEqual([{ protocol: PROTOCOLS[way], host: HOST, port }]);
    expect(decisions).toMatchObject([{ decision: "allow", source: "decider", policyOverride: true }]);
  });

  test("is asked about although it is allowed, when it is to be reviewed", async () => {
    const { decisions } = await run(
      visit("http", HOST, port),
      proxyParams({ ...allowed, reviewDomains: [HOST] }),
      { onNetworkRequest: () => "allow" },
    );
    expect(decisions).toMatchObject([{ decision: "allow", source: "decider" }]);
  });

  const refusals: [string, StartOptions["onNetworkRequest"], object][] = [
    ["deny", () => ({ type: "deny", reason: "no way" }), { decision: "deny", reason: "no way" }],
    ["ask", () => ({ type: "ask", reason: "a person?" }), { decision: "ask", reason: "a person?" }],
    ["no reason", () => ({ type: "deny", reason: "" }), { decision: "deny", reason: "policy_denied" }],
    [
      "a reason too long",
      () => ({ type: "deny", reason: "x".repeat(1025) }),
      { decision: "deny", reason: "not_allowed" },
    ],
    [
      "an error",
      () => {
        throw new Error("no idea");
      },
      { decision: "deny", reason: "not_allowed" },
    ],
  ];
  test.each(refusals)(
    "is blocked when its client answers with %s",
    async (_what, onNetworkRequest, verdict) => {
      const { out, decisions } = await run(
        visit("http", HOST, port),
        proxyParams({ allowLocalBinding: true }),
        { onNetworkRequest },
      );
      expect(decisions).toMatchObject([{ source: "decider", policyOverride: false, ...verdict }]);
      expect(out).toMatch(/^HTTP\/1\.1 403 /);
    },
  );

  test("is blocked when its client goes away before it answers", async () => {
    const { out } = await run(visit("http", HOST, port), proxyParams({ allowLocalBinding: true }), {
      onNetworkRequest: async (_request, { signal }) => {
        proxy.cut();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return "allow" as const;
      },
    });
    expectReason(out, "not_allowed");
  });

  test("can only look in limited mode, and only where it can be seen", async () => {
    const limited = proxyParams({ ...allowed, mode: "limited" });
    expect((await run(visit("http", HOST, port), limited)).out).toContain("a page");
    const posted = await run(visit("http", HOST, port, "POST"), limited);
    expectReason(posted.out, "method_not_allowed");
    expect(posted.decisions).toMatchObject([
      { scope: "domain", decision: "allow" },
      { scope: "non_domain", decision: "deny", source: "mode_guard", reason: "method_not_allowed" },
    ]);
    const tunnelled = await run(visit("connect", HOST, port), limited);
    expectBlocked(tunnelled.out, "connect");
    expect(tunnelled.decisions.at(-1)).toMatchObject({ source: "mode_guard", reason: "mitm_required" });
    const socks = await run(visit("socks", HOST, port), limited);
    expectBlocked(socks.out, "socks");
    expect(socks.decisions).toMatchObject([{ scope: "non_domain", reason: "method_not_allowed" }]);
  });

  const bad: [string, NetworkProxyParams, Partial<StartOptions>][] = [
    ["is switched off", proxyParams({ enabled: false }), {}],
    ["denies every host", proxyParams({ domains: { "*": "deny" } }), {}],
    ["gives no time to answer", { ...proxyParams(), policyDecisionTimeoutMs: 0 }, {}],
    [
      "is for a process whose name is too long to ask about",
      { ...proxyParams(), policyDecisionTimeoutMs: 1 },
      { processId: "x".repeat(257) },
    ],
    ["has half of its members", { proxy: { enabled: true } } as never, {}],
  ];
  test.each(bad)("is not started when its proxy %s", async (_what, networkProxy, more) => {
    await expect(run(["/bin/true"], networkProxy, more)).rejects.toMatchObject({ rpcCode: -32602 });
  });
});

const VARIABLES =
  `ALL_PROXY BUNDLE_HTTPS_PROXY BUNDLE_HTTP_PROXY BUNDLE_NO_PROXY CODEX_NETWORK_ALLOW_LOCAL_BINDING
CODEX_NETWORK_PROXY_ACTIVE DOCKER_HTTPS_PROXY DOCKER_HTTP_PROXY ELECTRON_GET_USE_PROXY FTP_PROXY HTTPS_PROXY HTTP_PROXY
NODE_USE_ENV_PROXY NO_PROXY NPM_CONFIG_HTTPS_PROXY NPM_CONFIG_HTTP_PROXY NPM_CONFIG_NOPROXY NPM_CONFIG_PROXY PATH PIP_PROXY PWD
WSS_PROXY WS_PROXY YARN_HTTPS_PROXY YARN_HTTP_PROXY all_proxy ftp_proxy http_proxy https_proxy no_proxy
npm_config_http_proxy npm_config_https_proxy npm_config_noproxy npm_config_proxy ws_proxy wss_proxy`.split(
    /\s+/,
  );
