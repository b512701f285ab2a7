/**
 * How messages are delimited on the wire: Codex ends each with a line feed, vscode-jsonrpc prefixes its
 * length.
 */
export type Framing = "lines" | "content-length";

export function encode(message: object, framing: Framing): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  return framing === "lines"
    ? Buffer.concat([body, Buffer.from("\n")])
    : Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** Maximum number of bytes per read from a pipe. */
const CHUNK_BYTES = 64 * 1024;

/** Splits bytes as a pipe would, regardless of message boundaries. */
export function inChunks(bytes: Buffer): Buffer[] {
  const count = Math.ceil(bytes.length / CHUNK_BYTES);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
  );
}
