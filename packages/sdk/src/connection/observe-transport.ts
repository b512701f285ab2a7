import type { Transport } from "@codexkit/rpc";
import type { ServerLink } from "./supervisor.ts";

/** One message between this program and the server, verbatim. */
export interface Packet {
  readonly direction: "sent" | "received";
  readonly text: string;
}

type Open = (signal: AbortSignal) => Promise<ServerLink>;

/** Reports every message of the connections that `open` creates. They are unaffected by a listener that throws. */
export function observedOpen(open: Open, onPacket: (packet: Packet) => void): Open {
  const report = (packet: Packet): void => {
    try {
      onPacket(packet);
    } catch {
      // The message itself must still be delivered.
    }
  };
  return async (signal) => {
    const link = await open(signal);
    return { ...link, transport: observeTransport(link.transport, report) };
  };
}

function observeTransport(transport: Transport, report: (packet: Packet) => void): Transport {
  return {
    start: (receiver) =>
      transport.start({
        text: (text) => {
          report({ direction: "received", text });
          receiver.text(text);
        },
        malformed: (error) => receiver.malformed(error),
        closed: (cause) => receiver.closed(cause),
      }),
    send: (text) => {
      report({ direction: "sent", text });
      return transport.send(text);
    },
    ...(transport.pause && transport.resume
      ? { pause: () => transport.pause?.(), resume: () => transport.resume?.() }
      : {}),
    close: () => transport.close(),
  };
}
