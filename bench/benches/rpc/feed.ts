import { encode, inChunks, type Framing } from "./framing.ts";
import { longMessage, notifications } from "./messages.ts";

/** What is sent: a number of notifications, or one message of a given size. */
export interface Feed {
  readonly kind: "notifications" | "long";
  readonly size: number;
}

/** Number of different notifications. They are sent repeatedly, so that a feeder is ready immediately. */
const DISTINCT = 1000;

/** The bytes of a feed in chunks, and how many times they are sent. */
export function feedOf({ kind, size }: Feed, framing: Framing): { chunks: Buffer[]; times: number } {
  if (kind === "long") return { chunks: inChunks(encode(longMessage(size), framing)), times: 1 };
  if (size % DISTINCT !== 0) throw new RangeError(`${size} notifications are not a multiple of ${DISTINCT}`);
  const encoded = notifications(DISTINCT).map((message) => encode(message, framing));
  return { chunks: inChunks(Buffer.concat(encoded)), times: size / DISTINCT };
}
