import { LineSplitter } from "@codexkit/rpc";
import type { Readable, Writable } from "node:stream";
import { EXEC_LIMITS } from "../limits.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { lineFraming } from "./framing.ts";
import { MessageWriter } from "./message-writer.ts";

/** Serves one client over a pair of streams, a message a line. Its end is the end of its session. */
export function serveStdio(input: Readable, output: Writable, options: ConnectionOptions): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => {
    input.pause();
    connection.ended();
    resolve();
  };
  const writer = new MessageWriter(output, lineFraming, () => connection.relieved());
  const inlet = { pause: () => input.pause(), resume: () => input.resume(), cut: end };
  const connection = new Connection(inlet, writer, { ...options, resumable: false });
  const lines = new LineSplitter(EXEC_LIMITS.messageBytes, (line) => connection.receive(Buffer.from(line)));
  input.on("data", (bytes: Buffer) => {
    try {
      lines.push(bytes);
    } catch {
      end(); // A line above the limit.
    }
  });
  input.on("end", end);
  input.on("close", end);
  input.on("error", end);
  output.on("error", end);
  return promise.then(() => writer.flush());
}
