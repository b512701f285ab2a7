/**
 * Joins the chunks of a body. Returns `undefined`, and stops reading, as soon as there are more than `maxBytes` bytes: the length
 * that a peer declares may be missing or wrong.
 */
export async function collectBytes(
  chunks: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const collected: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    collected.push(chunk);
  }
  return Buffer.concat(collected);
}
