import { gate, run, say, type Script, waitFor } from "@codexkit/scripted-model";
import { STORE_KINDS } from "@codexkit/store/testing";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../src/api/event.ts";
import { DaemonClient } from "../src/client/client.ts";
import { assertGapless, useDatabases } from "./database-fixture.ts";
import { createDaemonHome, type DaemonHome } from "./start-daemon.ts";

const program = join(import.meta.dirname, "daemon-program.ts");

/**
 * A port that was free a moment ago, so that a client finds the second daemon at the address of the first. Below the ports that
 * the system assigns, so that it is not given to another test in between.
 */
async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

async function startProcess({ options, folders }: DaemonHome, port: number): Promise<ChildProcess> {
  const { stateFolder, store, roots, userCodexHome } = options;
  const settings = { port, stateFolder, store, roots, userCodexHome, env: folders.env };
  const child = spawn(process.execPath, ["--conditions=codexkit:source", program, JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await Promise.race([
    once(child.stdout, "data"),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`The daemon ended with ${code}.`))),
  ])) as [Buffer];
  expect(String(line)).toContain(String(port));
  return child;
}

async function kill(child: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

describe.each(STORE_KINDS)("a daemon on %s that is killed in the middle of a turn", (store) => {
  const databases = useDatabases(store);

  test("continues the turn and the clients' streams, and asks again what was open", async () => {
    const open = gate();
    const script: Script = ({ newOutputs }) =>
      newOutputs.length === 0
        ? run("touch made", { callId: "call", escalate: "It writes." })
        : say(["first ", waitFor(open), "second"]);
    await using home = await createDaemonHome(script, { kind: store, locations: databases.locations });
    const port = await findFreePort();
    let child = await startProcess(home, port);
    const token = (await readFile(join(home.stateFolder, "token"), "utf8")).trim();
    const client = new DaemonClient({ url: `http://127.0.0.1:${port}`, token });
    const { session } = await client.createSession(
      { cwd: home.folders.workspace, permissionMode: "read-only" },
      { wait: 20_000 },
    );
    await client.send(session.id, "go");
    const events: SessionEvent[] = [];
    let kills = 0;
    const restart = async (): Promise<void> => {
      await kill(child, "SIGKILL");
      kills += 1;
      child = await startProcess(home, port);
    };
    for await (const event of client.sessionEvents(session.id, { signal: AbortSignal.timeout(50_000) })) {
      events.push(event);
      if (event.type === "inbox.opened" && kills === 0) {
        await restart();
        await client.answer(event.approvalId, { type: "decision", offer: "accept" });
      }
      if (event.type === "item.delta" && kills === 1) {
        await restart();
        open.open();
      }
      if (event.type.startsWith("turn.") && event.type !== "turn.started") break;
    }
    assertGapless(events);
    expect(kills).toBe(2);
    expect(events.filter(({ type }) => type === "session.moved")).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({
      type: "turn.completed",
      result: { finalResponse: "first second" },
    });
    const messages = events.filter(
      (event) => event.type === "item.completed" && event.item.type === "userMessage",
    );
    expect(messages).toHaveLength(1);
    await client.request("DELETE /sessions/{sessionId}", {
      params: { sessionId: session.id },
      query: { wait: 20_000 },
    });
    await kill(child, "SIGTERM");
  }, 60_000);
});
