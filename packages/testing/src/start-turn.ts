import type { ClientRequests, ClientWire } from "@codexkit/protocol";
import type { Peer } from "@codexkit/rpc";

export interface StartedTurn {
  /** The status at the end of the turn, or its error as JSON. */
  readonly ended: Promise<string>;
}

/** Starts a thread, and a turn with the input "go". The script of the model decides what happens in it. */
export async function startTurn(
  peer: Peer<ClientWire>,
  settings: ClientRequests["thread/start"]["params"],
): Promise<StartedTurn> {
  const { thread } = await peer.request("thread/start", settings);
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const handler = peer.on("turn/completed", ({ threadId, turn: { status, error } }) => {
    if (threadId !== thread.id) return;
    handler[Symbol.dispose]();
    resolve(error ? JSON.stringify(error) : status);
  });
  await peer.request("turn/start", {
    threadId: thread.id,
    input: [{ type: "text", text: "go", text_elements: [] }],
  });
  return { ended };
}
