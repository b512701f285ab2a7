import type { Socket } from "node:net";
import type { WebSocket } from "ws";

const MIB = 1024 * 1024;

/** Number of bytes of an unfinished message that stay in their read buffers: enough for a file of 12 MB. */
const AS_READ_BYTES = 16 * MIB;

/**
 * The rest of a message is copied into blocks of this size, which are allocated from and returned to the
 * system.
 */
const BLOCK_BYTES = 4 * MIB;

/**
 * Manages the memory of messages that arrive in many reads. Node allocates each read on the heap of the C
 * library, and `ws` keeps all of them until the message is complete. If that were left to the garbage
 * collector, the heap would grow with every message, and small allocations in between would prevent the
 * memory from being returned. Reads are therefore freed as soon as `ws` has copied them into the complete
 * message, and only a limited part of a message stays on that heap.
 */
export function manageLargeMessages(client: WebSocket, socket: Socket, asReadBytes = AS_READ_BYTES): void {
  const push = socket.push.bind(socket);
  let unfinishedBytes = 0;
  let block: Buffer | undefined;
  let blockUsed = 0;
  const blocks = new WeakSet<ArrayBufferLike>();
  socket.push = (read: unknown, encoding?: BufferEncoding): boolean => {
    if (!Buffer.isBuffer(read)) return push(read, encoding);
    unfinishedBytes += read.length;
    if (unfinishedBytes <= asReadBytes) return push(read);
    if (block === undefined || block.length - blockUsed < read.length) {
      block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, read.length));
      blockUsed = 0;
      blocks.add(block.buffer);
    }
    const copy = block.subarray(blockUsed, blockUsed + read.length);
    read.copy(copy);
    blockUsed += read.length;
    if (isWhole(read)) free(read.buffer);
    return push(copy);
  };

  /** Memory that contains only parts of the unfinished message. */
  const held = new Set<ArrayBuffer>();
  /** The buffer that `ws` is reading now. Its end may belong to the next message. */
  let current: Buffer | undefined;
  /** Memory that an event may refer to: a message that arrived in one read is a part of that read. */
  let exposed: ArrayBufferLike | undefined;
  const hold = (): void => {
    if (!current || current.buffer === exposed || !(current.buffer instanceof ArrayBuffer)) return;
    if (isWhole(current) || blocks.has(current.buffer)) held.add(current.buffer);
  };
  const freeHeld = (except?: ArrayBufferLike): void => {
    for (const memory of held) if (memory !== except && memory !== current?.buffer) free(memory);
    held.clear();
  };
  // Before the listener of `ws`, which emits the messages of this read.
  socket.prependListener("data", (read: Buffer) => {
    hold();
    current = read;
  });
  client.on("message", (data: Buffer) => {
    unfinishedBytes = 0;
    block = undefined;
    exposed = current?.buffer;
    // A single fragment is not copied, even if an empty one follows in another read.
    freeHeld(data.buffer);
  });
  const keep = (): void => {
    exposed = current?.buffer;
    held.clear();
  };
  client.on("ping", keep);
  client.on("pong", keep);
  client.on("close", () => {
    hold();
    current = undefined;
    block = undefined;
    freeHeld();
  });
}

function isWhole(read: Buffer): boolean {
  return read.buffer.byteLength === read.length;
}

function free(memory: ArrayBufferLike): void {
  if (memory instanceof ArrayBuffer && !memory.detached) memory.transfer(0);
}
