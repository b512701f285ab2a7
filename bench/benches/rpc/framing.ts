/** How messages are told apart on the wire: Codex ends each with a line feed, vscode-jsonrpc puts its length before it. */
export type Framing = "lines" | "content-length";

export function encode(message: object, framing: Framing): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  return framing === "lines"
    ? Buffer.concat([body, Buffer.from("\n")])
    : Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** What one read from a pipe brings at most. */
const CHUNK_BYTES = 64 * 1024;

/** Bytes cut as a pipe would cut them: with no regard to where messages end. */
export function inChunks(bytes: Buffer): Buffer[] {
  const count = Math.ceil(bytes.length / CHUNK_BYTES);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
  );
}
