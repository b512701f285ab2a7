import { once } from "node:events";
import { WebSocket } from "ws";
import { residentMemory } from "./resident-memory.ts";
import type { Contender } from "./servers.ts";

const FRAGMENT_BYTES = 16 * 1024;

/**
 * Returns the megabytes that a server needs in addition to its idle memory while a client sends a message in
 * fragments and never finishes it.
 */
export async function memoryOfFragments(contender: Contender, megabytes: number): Promise<number> {
  const before = await residentMemory(contender);
  const socket = new WebSocket(contender.url, { perMessageDeflate: false });
  socket.on("error", () => {});
  await once(socket, "open");
  const fragment = Buffer.alloc(FRAGMENT_BYTES, "x");
  let peak = 0;
  for (let sent = 0; sent < megabytes * 1_000_000; sent += FRAGMENT_BYTES) {
    if (socket.readyState !== WebSocket.OPEN) break;
    await new Promise((resolve) => socket.send(fragment, { binary: false, fin: false }, resolve));
    if (sent % (64 * FRAGMENT_BYTES) === 0) peak = Math.max(peak, await residentMemory(contender));
  }
  peak = Math.max(peak, await residentMemory(contender));
  socket.terminate();
  return Math.max(0, peak - before);
}
