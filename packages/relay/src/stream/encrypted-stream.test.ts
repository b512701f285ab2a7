import { Peer } from "@codexkit/rpc";
import { describe, expect, it } from "vitest";
import { EXECUTOR, Inbox, streamPair } from "../../test/stream-pair.ts";
import { decodeFrame } from "../frames/decode-frame.ts";
import { RELAY_LIMITS } from "../limits.ts";
import { CipherState, MAX_NONCE } from "../noise/cipher-state.ts";
import { createCounters } from "./counters.ts";
import { EncryptedStream } from "./encrypted-stream.ts";

describe("an encrypted stream", () => {
  it("carries messages of all sizes in both directions and in order", async () => {
    const { harness, executor } = await streamPair();
    const [near, far] = [new Inbox(harness), new Inbox(executor)];
    const messages = [1, 2, 61_435, 61_436, 61_437, 61_440, 122_880, 300_000, 3].map((size) =>
      "é".padEnd(size, "x"),
    );
    for (const message of messages) {
      await harness.send(message);
      await executor.send(Buffer.from(message));
    }
    expect(await far.count(messages.length)).toEqual(messages);
    expect(await near.count(messages.length)).toEqual(messages);
    await harness.close();
    await far.closed;
  });

  it("is a transport of an RPC peer", async () => {
    const { harness, executor } = await streamPair();
    const [client, server] = [new Peer(harness), new Peer(executor)];
    server.handle("echo", (params) => params);
    const calls = Array.from({ length: 200 }, (_, i) => client.request("echo", { i }));
    expect(await Promise.all(calls)).toEqual(calls.map((_, i) => ({ i })));
    await client.close();
    await server.closed;
  });

  it.each([
    ["small message", "x"],
    ["message of several records", "x".repeat(200_000)],
  ])("ends with a reset when a %s needs more record numbers than there are", async (_what, message) => {
    const frames: Uint8Array[] = [];
    const stream = new EncryptedStream({
      role: "harness",
      streamId: "s1",
      remoteKey: EXECUTOR.publicKey,
      keys: {
        send: new CipherState(Buffer.alloc(32, 1), MAX_NONCE),
        receive: new CipherState(Buffer.alloc(32, 2)),
      },
      link: {
        send: (frame) => void frames.push(frame),
        bufferedBytes: 0,
        setPaused: () => {},
        close: () => Promise.resolve(),
      },
      isReliabilityEnabled: false,
      canReconnect: false,
      limits: RELAY_LIMITS,
      counters: createCounters(),
      onEnd: () => {},
    });
    const inbox = new Inbox(stream);
    void stream.send("last");
    stream.flush();
    void stream.send(message);
    stream.flush();
    expect(await inbox.closed).toMatchObject({ code: "limit" });
    expect(frames.map((frame) => decodeFrame(Buffer.from(frame)).body)).toMatchObject([
      { kind: "data", seq: MAX_NONCE },
      { kind: "reset" },
    ]);
    await stream.close();
  });

  it("puts the small messages of one turn into one frame", async () => {
    const { harness, executor, harnessChannel } = await streamPair();
    const far = new Inbox(executor);
    harnessChannel.isRecording = true;
    for (let i = 0; i < 100; i++) void harness.send(`message ${i}`);
    await far.count(100);
    expect(harnessChannel.sent).toHaveLength(1);
  });
});
