import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { createDaemon } from "./create-daemon.ts";
import type { DaemonOptions } from "./daemon-options.ts";
import { checkOptions } from "./parse-options.ts";

describe("options that the type excludes", () => {
  test.each<[object, string]>([
    [{ root: ["/srv"] }, 'options: Unrecognized key: "root"'],
    [{ limits: { http: { bodybytes: 1 } } }, 'options.limits.http: Unrecognized key: "bodybytes"'],
    [{ codex: { codexpath: "/x" } }, 'options.codex: Unrecognized key: "codexpath"'],
    [{ defaults: { permisionMode: "bypass" } }, 'options.defaults: Unrecognized key: "permisionMode"'],
    [{ auth: "off" }, "options.auth"],
    [{ defaults: { permissionMode: "yolo" } }, "options.defaults.permissionMode"],
    [{ drainMs: "5" }, "options.drainMs: Expected a number that is not negative."],
    [{ retention: { maxAgeMs: -1 } }, "options.retention.maxAgeMs: Expected a number"],
    [{ allowedOrigins: ["*"] }, "options.allowedOrigins.0: Expected an origin"],
    [{ allowedOrigins: ["https://app.example/"] }, "options.allowedOrigins.0: Expected an origin"],
    [{ allowedHosts: ["https://app.example"] }, "options.allowedHosts.0: Expected a host name"],
    [{ logger: "verbose" }, "options.logger"],
    [{ advertiseUrl: "10.0.0.7:4000" }, "options.advertiseUrl: Expected an http or https URL"],
    [{ capacity: 0 }, "options.capacity"],
    [{ labels: ["node:other"] }, "options.labels.0: Labels that begin with `node:`"],
    [{ sharedRoots: { "node:other": "/srv" } }, "options.sharedRoots.node:other"],
    [{ sharedRoots: { data: "/missing" } }, 'The root "/missing" is not a folder'],
    [
      { limits: { fleet: { leaseMs: 1_000 } } },
      "limits.fleet.freezeMs (20000) must be less than leaseMs (1000)",
    ],
    [{ limits: { fleet: { renewMs: 18_000 } } }, "one failed renewal would stop all turns"],
  ])("%j", async (options, message) => {
    await expect(createDaemon(options as DaemonOptions)).rejects.toMatchObject({
      code: "bad_options",
      message: expect.stringContaining(message),
    });
  });
});

test("all options of the type are accepted", () => {
  checkOptions({
    stateFolder: "/state",
    store: "postgres://localhost/codex",
    roots: ["/srv"],
    defaults: { permissionMode: "read-only", budget: { totalTokens: 5 } },
    auth: "none",
    allowedHosts: ["app.example"],
    allowedOrigins: ["https://app.example", "http://localhost:3000"],
    allowPrivateAddresses: true,
    nodeName: "here",
    labels: ["gpu"],
    advertiseUrl: "http://10.0.0.7:4000",
    capacity: 20,
    sharedRoots: { data: "/srv/data" },
    apiKey: "key",
    userCodexHome: "/home/user/.codex",
    codex: { codexPath: "/codex", env: {}, inheritEnv: false, config: {}, configOverrides: [], enable: [] },
    limits: {
      http: { bodyBytes: 1 },
      runner: { approvalMs: Number.POSITIVE_INFINITY },
      files: {},
      store: { connections: 2 },
      journal: { flushMs: 0 },
      webhooks: { attempts: 1 },
      fleet: { leaseMs: 3_000 },
    },
    retention: { everyMs: 1, mergeAfterMs: 1, maxAgeMs: 1, maxBytes: 1 },
    drainMs: 0,
    logger: pino({ level: "silent" }),
  });
});
