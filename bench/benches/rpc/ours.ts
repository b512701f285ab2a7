import { NdjsonTransport, Peer } from "@codexkit/rpc";

import type { Contender } from "./contender.ts";

/** The typical use: one listener per method, and calls with their default timeout. */
export const ours: Contender = {
  framing: "lines",
  open(streams, heard) {
    const peer = new Peer(new NdjsonTransport(streams));
    for (const [method, listener] of heard) peer.on(method, listener);
    return {
      call: (method, params) => peer.request(method, params),
      [Symbol.asyncDispose]: () => peer.close(),
    };
  },
};
