import { gate, run, say, type Script, waitFor } from "@codexkit/scripted-model";
import { STORE_KINDS } from "@codexkit/store/testing";
import { findFreePort } from "@codexkit/testing";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../src/api/event.ts";
import { assertGapless, useDatabases } from "./database-fixture.ts";
import { startDaemonProcess } from "./daemon-process.ts";
import { createDaemonHome } from "./start-daemon.ts";

describe.each(STORE_KINDS)("a daemon on %s that is killed in the middle of a turn", (store) => {
  const databases = useDatabases(store);

  test("continues the turn and the clients' streams, and asks open requests again", async () => {
    const open = gate();
    const script: Script = ({ newOutputs }) =>
      newOutputs.length === 0
        ? run("touch made", { callId: "call", escalate: "It writes." })
        : say(["first ", waitFor(open), "second"]);
    await using home = await createDaemonHome(script, { kind: store, locations: databases.locations });
    const port = await findFreePort();
    let daemon = await startDaemonProcess(home, port);
    const { client } = daemon;
    const { session } = await client.createSession(
      { cwd: home.folders.workspace, permissionMode: "read-only" },
      { wait: 20_000 },
    );
    await client.send(session.id, "go");
    const events: SessionEvent[] = [];
    let kills = 0;
    const restart = async (): Promise<void> => {
      await daemon.end("SIGKILL");
      kills += 1;
      daemon = await startDaemonProcess(home, port);
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
    await daemon.end("SIGTERM");
  }, 60_000);
});
