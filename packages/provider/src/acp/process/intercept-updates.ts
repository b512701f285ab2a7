import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { sessionNotification, type SessionNotification } from "../events/session-notification.ts";

/**
 * Removes the session updates from the agent's messages and passes them on in order. The ACP SDK would drop updates of unknown
 * kinds, and deliver the others after responses that arrived later.
 */
export function interceptUpdates(
  stream: Stream,
  onUpdate: (notification: SessionNotification) => void,
): Stream {
  const rest = new TransformStream<AnyMessage, AnyMessage>({
    transform: (message, controller) => {
      if (!("method" in message) || message.method !== "session/update" || "id" in message)
        return controller.enqueue(message);
      const parsed = sessionNotification.safeParse(message.params);
      // An update without a session id can't be routed.
      if (parsed.success) onUpdate(parsed.data);
    },
  });
  return { writable: stream.writable, readable: stream.readable.pipeThrough(rest) };
}
