import { say } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { Codex } from "../codex.ts";
import { launchAppServer } from "../process/launch-app-server.ts";
import { observedOpen, type Packet } from "./observe-transport.ts";
import type { ServerLink } from "./supervisor.ts";

describe("a custom transport", () => {
  it("runs turns, and onPacket receives every message, even if it throws", async () => {
    await using folders = await codexFolders({ model: () => say("Hello.") });
    await using server = await launchAppServer({ inheritEnv: false, env: folders.env });
    const packets: Packet[] = [];
    await using codex = await Codex.withTransport(async () => server.transport, {
      onPacket: (packet) => {
        packets.push(packet);
        throw new Error("a listener's own fault");
      },
    });
    const thread = await codex.startThread({ cwd: folders.workspace, ephemeral: true });
    const { finalResponse } = await thread.run("hi");
    expect(finalResponse).toBe("Hello.");
    const texts = (direction: Packet["direction"]): string =>
      packets.flatMap((packet) => (packet.direction === direction ? [packet.text] : [])).join("\n");
    expect(texts("sent")).toContain('"turn/start"');
    expect(texts("received")).toContain('"turn/completed"');
  });
});

it("an observed transport can be paused if the transport can", async () => {
  const calls: string[] = [];
  const plain = { start: () => undefined, send: () => undefined, close: async () => undefined };
  const pausable = { ...plain, pause: () => calls.push("pause"), resume: () => calls.push("resume") };
  const open = async (transport: object) =>
    (
      await observedOpen(
        async () => ({ transport }) as unknown as ServerLink,
        () => undefined,
      )(new AbortController().signal)
    ).transport;

  const observed = await open(pausable);
  observed.pause?.();
  observed.resume?.();

  expect(calls).toEqual(["pause", "resume"]);
  expect(await open(plain)).not.toHaveProperty("pause");
});
