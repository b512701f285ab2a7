// A session whose commands run on an exec-server: its owners connect with their epoch, so that each one cuts off the former.
import { ExecServer } from "@codexkit/exec-server";
import { run, say, ScriptedModel } from "@codexkit/scripted-model";
import { tempFolder } from "@codexkit/testing";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { fleetLimits } from "../src/fleet/limits.ts";
import { setupSecrets } from "../src/secrets/secret-mask.ts";
import { useDatabases } from "./database-fixture.ts";
import { ExecServerTap } from "./exec-server-tap.ts";
import { startStage } from "./killed-runner.ts";
import { startRunner } from "./start-runner.ts";
import { startTestDaemon } from "./test-daemon.ts";

const SECRET = "the shared secret of the exec-server";
const WAIT = { timeout: 20_000 } as const;
const TEST_MS = 60_000;
/** What Codex sends on a connection that no turn uses. */
const HANDSHAKE_PACKETS = 3;

async function startExecServer(
  auth: { issuer?: string; audience?: string } = {},
): Promise<{ tap: ExecServerTap; folder: string }> {
  const server = await ExecServer.start({ auth: { mode: "signed-bearer-token", secret: SECRET, ...auth } });
  const tap = await ExecServerTap.start(server.url ?? "");
  const folder = await tempFolder("remote");
  onTestFinished(async () => {
    await tap[Symbol.asyncDispose]();
    await server.close();
    await folder[Symbol.asyncDispose]();
  });
  return { tap, folder: folder.path };
}

/** Runs until the file `stop` exists. */
const hold = run("touch started; while [ ! -e stop ]; do sleep 0.05; done; touch ended", { yieldMs: 25_000 });

describe("a session with the secret of its exec-server", () => {
  const databases = useDatabases("postgres");

  test(
    "cuts off the former owner's connection at the moment its successor connects",
    async () => {
      const { tap, folder } = await startExecServer();
      await using model = await ScriptedModel.start(({ newOutputs }) =>
        newOutputs.length > 0 ? say("end") : hold,
      );
      const location = await databases.location();
      const common = { maxEventLoopDelayMs: 60_000, minFreeMemory: 0 };
      // Does not notice for a minute that it has lost the session.
      const slow = { ...common, leaseMs: 120_000, freezeMs: 100_000, renewMs: 60_000 };
      await using former = await startRunner(model, {
        location,
        nodeName: "former",
        fleet: fleetLimits(slow),
      });
      const environment = { url: tap.url, secret: SECRET };
      const session = await former.create({ cwd: folder, environment, permissionMode: "bypass" });
      await session.send("go");
      await expect.poll(() => existsSync(join(folder, "started")), WAIT).toBe(true);
      expect(tap.connections).toMatchObject([{ claims: { sub: session.id, epoch: 1 }, status: 101 }]);

      const fast = { leaseMs: 3_000, freezeMs: 1_800, renewMs: 300, renewTimeoutMs: 700, takeoverMs: 100 };
      const fleet = fleetLimits({ ...common, ...fast });
      await using successor = await startRunner(model, { location, nodeName: "successor", fleet });
      const { store } = successor.database;
      await store.db.updateTable("node").set({ lease_until: 1 }).where("name", "=", "former").execute();
      await expect.poll(() => tap.ofEpoch(2).length, WAIT).toBeGreaterThan(0);
      await expect.poll(() => tap.ofEpoch(1).map(({ endedBy }) => endedBy), WAIT).toEqual(["server"]);
      // Codex tries to connect again, with the same token.
      await expect
        .poll(() => tap.connections.findLast(({ claims }) => claims?.["epoch"] === 1)?.status, WAIT)
        .toBe(409);
      expect(tap.ofEpoch(2).at(-1)?.endedBy).toBeUndefined();
    },
    TEST_MS,
  );

  test("sends no token with an epoch without the secret", async () => {
    const { tap, folder } = await startExecServer();
    await using stage = await startRunner([say("end")]);
    const environment = { url: tap.url, token: "static" };
    const session = await stage.create({ cwd: folder, environment });
    await session.send("go");
    await expect.poll(() => tap.connections.length, WAIT).toBeGreaterThan(0);
    expect(tap.connections[0]).toMatchObject({ claims: undefined, status: 401 });
  });

  test(
    "names the issuer and the audience, and renews a token that would expire before the next turn",
    async () => {
      const auth = { issuer: "fleet", audience: "builder" };
      const { tap, folder } = await startExecServer(auth);
      const model = ({ newOutputs }: { newOutputs: readonly unknown[] }) =>
        newOutputs.length > 0 ? say("end") : run("echo line >> made");
      // Less than half of the token's time is left at once. The exec-server tolerates a clock difference of 30 s.
      await using stage = await startRunner(model, { limits: { environmentTokenMs: 1 } });
      const environment = { url: tap.url, secret: SECRET, ...auth };
      const session = await stage.create({ cwd: folder, environment, permissionMode: "bypass" });
      for (const message of ["one", "two"]) {
        const { turnId } = (await session.send(message)) as { turnId?: string };
        expect(await session.ended(turnId)).toMatchObject({ type: "turn.completed" });
      }
      const [, first, second] = tap.ofEpoch(1);
      for (const connection of [first, second]) {
        expect(connection?.claims).toMatchObject({ sub: session.id, iss: "fleet", aud: "builder" });
        // More than the handshake: the turn has used it.
        expect(connection?.packets).toBeGreaterThan(HANDSHAKE_PACKETS);
      }
      expect(await readFile(join(folder, "made"), "utf8")).toBe("line\nline\n");
    },
    TEST_MS,
  );

  test(
    "keeps the connection of a running turn when its daemon is killed and started again",
    async () => {
      const { tap, folder } = await startExecServer();
      await using stage = await startStage(({ newOutputs, lastUserText }) => {
        if (newOutputs.length > 0) return say("end");
        return lastUserText === "hold" ? hold : run("touch after");
      });
      const environment = { url: tap.url, secret: SECRET };
      const settings = { cwd: folder, environment, permissionMode: "bypass" } as const;
      const daemon = await stage.boot(settings, ["hold"]);
      await expect.poll(() => existsSync(join(folder, "started")), WAIT).toBe(true);
      await daemon.kill();
      const { session } = await stage.takeOver(daemon.sessionId);
      await session.event(({ type }) => type === "session.moved");
      await session.event(({ type }) => type === "session.updated" || type === "turn.started");
      await writeFile(join(folder, "stop"), "");
      const end = await session.ended();
      expect(end).toMatchObject({ type: "turn.completed" });
      expect(existsSync(join(folder, "ended"))).toBe(true);
      expect(tap.ofEpoch(1).map(({ endedBy }) => endedBy)).toEqual([undefined]);
      // The next turn uses a token of the new epoch.
      await session.send("again");
      await session.ended(undefined, end.seq);
      expect(existsSync(join(folder, "after"))).toBe(true);
      expect(tap.ofEpoch(2).length).toBeGreaterThan(0);
    },
    TEST_MS,
  );
});

describe("the secret of an exec-server", () => {
  const databases = useDatabases("sqlite");

  test("is in no response, in no export and in no debug bundle", async () => {
    await using api = await startTestDaemon(await databases.open());
    const environment = { url: "ws://127.0.0.1:9", secret: SECRET, issuer: "fleet" };
    const created = await api.request("POST /sessions?wait=10000", { json: { cwd: "/remote", environment } });
    expect(created.status).toBe(202);
    const { session } = (await created.json()) as { session: { id: string } };
    const texts: string[] = [];
    for (const path of ["", "/export", "/debug"]) {
      const response = await api.request(`GET /sessions/${session.id}${path}`);
      expect([path, response.status]).toEqual([path, 200]);
      texts.push(await response.text());
    }
    expect(texts.join("")).not.toContain(SECRET);
    expect(texts[1]).toContain('"environment":{"url":"ws://127.0.0.1:9/"}');
    expect(JSON.parse(texts[2] ?? "")).toMatchObject({ setup: { environment: { hasSecret: true } } });
    expect(setupSecrets({ environment })).toEqual([SECRET]);
  });

  test.each([
    ["a token", { secret: SECRET, token: "token" }],
    ["fewer bytes than an exec-server accepts", { secret: "short" }],
    ["an issuer for a static token", { token: "token", issuer: "fleet" }],
  ])("is refused with %s", async (_name, options) => {
    await using api = await startTestDaemon(await databases.open());
    const environment = { url: "ws://127.0.0.1:9", ...options };
    const refused = await api.request("POST /sessions", { json: { cwd: "/remote", environment } });
    expect(refused.status).toBe(400);
  });
});
