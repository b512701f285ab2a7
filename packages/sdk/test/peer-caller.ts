import type { ClientWire } from "@codexkit/protocol";
import type { Peer } from "@codexkit/rpc";
import { toCodexError } from "../src/connection/translate-error.ts";
import { CodexError } from "../src/errors.ts";
import type { TopicCaller } from "../src/topics/topic-caller.ts";

/** A `Caller` on a bare peer, for tests. It registers the peer's notification listener. */
export function peerCaller(peer: Peer<ClientWire>, { launched = true } = {}): TopicCaller {
  const listeners = new Map<string, Set<(params: never) => void>>();
  peer.onRest((params, { method }) => {
    for (const listener of listeners.get(method) ?? []) listener(params as never);
  });
  return {
    request: async (method, ...args) => {
      try {
        return await peer.request(method, ...args);
      } catch (error) {
        throw toCodexError(error, { method, launched });
      }
    },
    on: (method, listener) => {
      const own = listeners.get(method) ?? new Set();
      listeners.set(method, own.add(listener));
      return { [Symbol.dispose]: () => void own.delete(listener) };
    },
    onLost: (listener) => {
      let listening = true;
      void peer.closed.then((error) => {
        const lost = toCodexError(error, { method: "connection", launched });
        if (listening) listener(new CodexError(lost.code, lost.message, { cause: error }));
      });
      return { [Symbol.dispose]: () => void (listening = false) };
    },
  };
}
