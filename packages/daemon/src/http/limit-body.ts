import type { Context } from "hono";
import { DaemonError } from "../errors.ts";
import { toFileError } from "../files/file-error.ts";

/**
 * Passes the request's body to `read`, which limits its size. A body whose declared length is too large is rejected
 * before anything is read.
 */
export async function limitBody<Result>(
  { req }: Context,
  name: string,
  maxBytes: number,
  read: (body: AsyncIterable<Uint8Array>) => Promise<Result>,
): Promise<Result> {
  if (Number(req.header("content-length") ?? 0) > maxBytes) {
    throw new DaemonError("body_too_large", `The body is larger than ${maxBytes} bytes.`, {
      details: { maxBytes },
    });
  }
  try {
    return await read((req.raw.body ?? emptyBody()) as AsyncIterable<Uint8Array>);
  } catch (error) {
    throw toFileError(error, name);
  }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
