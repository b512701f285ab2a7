import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { sessionNotification, type SessionNotification } from "../events/session-notification.ts";

/**
 * Takes the session updates out of what an agent sends, in their place among the answers. The SDK would drop those of kinds
 * that it does not know, and handle the rest after an answer that came later.
 */
export function takeUpdates(stream: Stream, hear: (notification: SessionNotification) => void): Stream {
  const rest = new TransformStream<AnyMessage, AnyMessage>({
    transform: (message, controller) => {
      if (!("method" in message) || message.method !== "session/update" || "id" in message)
        return controller.enqueue(message);
      const parsed = sessionNotification.safeParse(message.params);
      // What names no session can't be told to anybody.
      if (parsed.success) hear(parsed.data);
    },
  });
  return { writable: stream.writable, readable: stream.readable.pipeThrough(rest) };
}
