import { raceAbort } from "@codexkit/rpc/async";
import { RelayError } from "../errors.ts";
import type { FrameChannel } from "./frame-channel.ts";
import { HarnessConnection } from "./harness-connection.ts";
import type { OpenStreamOptions } from "./open-stream-options.ts";
import type { RelayStream } from "./relay-stream.ts";

/**
 * Opens a stream to an executor, as a harness. Takes the channel over and closes it with the stream, or when this rejects:
 * with `protocol_violation`, `limit`, `refused`, `disconnected`, `timeout` or `aborted`.
 */
export async function openStream(channel: FrameChannel, options: OpenStreamOptions): Promise<RelayStream> {
  try {
    const connection = new HarnessConnection(channel, options);
    return await raceAbort(connection.opened, options.signal, (signal) => {
      return new RelayError("aborted", "Opening the stream was aborted.", { cause: signal.reason });
    });
  } catch (error) {
    await channel.close();
    throw error;
  }
}
