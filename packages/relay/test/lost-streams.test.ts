// Sessions whose reliable stream ended at the harness alone, while the executor still waits for the stream to be resumed.
import { ExecServer } from "@codexkit/exec-server";
import { ExecClient } from "@codexkit/exec-server/client";
import { expect, test } from "vitest";
import { decodeFrame } from "../src/frames/decode-frame.ts";
import { encodeFrame } from "../src/frames/encode-frame.ts";
import { openStream } from "../src/stream/open-stream.ts";
import { type MemoryChannel, memoryChannelPair } from "./memory-channel.ts";
import { harnessOptions, REGISTRATION_ID, testAcceptor } from "./stream-pair.ts";

interface Connection {
  readonly near: MemoryChannel;
  readonly far: MemoryChannel;
}

/** A client over reliable streams to an exec-server, and the connections that it has made. */
async function connect({
  canReconnect,
  onConnection,
}: {
  readonly canReconnect: boolean;
  readonly onConnection?: (connection: Connection, number: number) => void;
}) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await ExecServer.start({ bwrap: null, listen: "none" }));
  const { acceptor } = testAcceptor({ onStream: (stream) => server.accept(stream, {}) });
  stack.defer(() => acceptor.close());
  const connections: Connection[] = [];
  const channel = async (): Promise<MemoryChannel> => {
    const [near, far] = memoryChannelPair();
    connections.push({ near, far });
    onConnection?.({ near, far }, connections.length);
    void acceptor.serve(far, REGISTRATION_ID);
    return near;
  };
  const dial = async () =>
    openStream(await channel(), harnessOptions(canReconnect ? { reconnect: channel } : {}));
  const client = stack.use(await ExecClient.connectWith(dial, { resumeDelayMs: () => 10 }));
  const owner = stack.move();
  return { client, connections, acceptor, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

test("a session survives a handshake that was injected into its stream", async () => {
  await using it = await connect({ canReconnect: true });
  const command = await it.client.start({ argv: ["/bin/cat"], cwd: "/", pipeStdin: true });
  const far = it.connections[0]?.far as MemoryChannel;
  far.fault = (frame, deliver) => {
    far.fault = (next, pass) => pass(next);
    const body = { kind: "handshake", payload: Buffer.from("x") } as const;
    deliver(Buffer.from(encodeFrame({ streamId: decodeFrame(frame).streamId, ack: 0, ackBits: 0, body })));
    deliver(frame);
  };
  await command.stdin.write("after\n");
  for await (const { bytes } of command) {
    expect(String(bytes)).toBe("after\n");
    break;
  }
  await command.kill();
  expect(it.connections).toHaveLength(2);
  expect(it.acceptor.activeStreams).toBe(1);
});

test("a session survives the loss of the executor's acceptance together with its connection", async () => {
  await using it = await connect({
    canReconnect: false,
    onConnection: ({ near, far }, number) => {
      if (number !== 2) return;
      // Only the answer to the handshake arrives. The stream is then reliable for the executor alone.
      far.fault = (answer, deliver) => {
        deliver(answer);
        far.fault = () => {
          far.end(new Error("cut"));
          near.end(new Error("cut"));
        };
      };
    },
  });
  const command = await it.client.start({ argv: ["/bin/cat"], cwd: "/", pipeStdin: true });
  it.connections[0]?.far.end();
  it.connections[0]?.near.end();
  await command.stdin.write("after\n");
  for await (const { bytes } of command) {
    expect(String(bytes)).toBe("after\n");
    break;
  }
  await command.kill();
  expect(it.connections).toHaveLength(3);
  expect(it.acceptor.activeStreams).toBe(1);
});
