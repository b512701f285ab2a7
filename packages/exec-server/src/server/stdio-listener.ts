import { LineSplitter } from "@codexkit/rpc";
import type { Readable, Writable } from "node:stream";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { lineSink } from "./message-sink.ts";
import { MessageWriter } from "./message-writer.ts";

/** Serves one client over a pair of streams, one message per line. The session ends with the streams. */
export function serveStdio(input: Readable, output: Writable, options: ConnectionOptions): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => {
    input.pause();
    connection.ended();
    resolve();
  };
  const writer = new MessageWriter(lineSink(output), () => connection.relieved(), options.limits);
  const inlet = { pause: () => input.pause(), resume: () => input.resume(), cut: end };
  const connection = new Connection(inlet, writer, { ...options, resumable: false });
  const lines = new LineSplitter(options.limits.messageBytes, (line) =>
    connection.receive(Buffer.from(line)),
  );
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
