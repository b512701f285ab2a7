import type { Context } from "hono";
import { basename } from "node:path";
import { createProblem } from "../api/problem.ts";
import { DaemonError } from "../errors.ts";
import type { AllowedPath } from "../files/allowed-paths.ts";
import { type ByteRange, parseRange } from "../files/byte-range.ts";
import { entityTag, hasTag } from "../files/entity-tag.ts";
import { fileBody } from "../files/file-body.ts";
import { IMAGE_HEADER_BYTES, imageType } from "../files/image-type.ts";
import { problemResponse } from "./problems.ts";

/** Serves opened files: handles conditions and ranges, and limits the number of concurrent bodies. */
export class FileResponder {
  readonly #limit: number;
  #open = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Creates the response. Closes the file when the body has ended or isn't needed. */
  async respond(file: AllowedPath, { req }: Context): Promise<Response> {
    let isHandedOver = false;
    try {
      const size = Number(file.stats.size);
      const etag = entityTag(file.stats);
      const headers = { ...(await describeContent(file)), etag, "accept-ranges": "bytes" };
      const ifNoneMatch = req.header("if-none-match");
      if (ifNoneMatch !== undefined && hasTag(ifNoneMatch, etag)) {
        return new Response(null, { status: 304, headers });
      }
      const range = readRange(req.header("range"), req.header("if-range"), { etag, size });
      const { start, end } = range ?? { start: 0, end: size };
      const init = {
        status: range ? 206 : 200,
        headers: {
          ...headers,
          "content-length": String(end - start),
          ...(range && { "content-range": `bytes ${start}-${end - 1}/${size}` }),
        },
      };
      if (req.raw.method === "HEAD" || start === end) return new Response(null, init);
      this.#count();
      isHandedOver = true;
      return new Response(
        fileBody(
          file.handle,
          { start, end },
          () => {
            this.#open -= 1;
          },
          req.raw.signal,
        ),
        init,
      );
    } catch (error) {
      if (!DaemonError.is(error) || error.code !== "range_not_satisfiable") throw error;
      return problemResponse(createProblem(error.code, error.message, error.details), {
        "content-range": `bytes */${file.stats.size}`,
      });
    } finally {
      if (!isHandedOver) await file.handle.close();
    }
  }

  #count(): void {
    if (this.#open >= this.#limit) {
      throw new DaemonError(
        "too_many_connections",
        `${this.#limit} files are already being read. Try again later.`,
        {
          details: { retryAfter: 5 },
        },
      );
    }
    this.#open += 1;
  }
}

function readRange(
  header: string | undefined,
  ifRange: string | undefined,
  { etag, size }: { readonly etag: string; readonly size: number },
): ByteRange | undefined {
  return ifRange !== undefined && ifRange.trim() !== etag ? undefined : parseRange(header, size);
}

/**
 * Files of a workspace are untrusted: a page or script among them would run with the rights of the console, which has
 * the same origin. Only raster images are therefore displayed; all other files are downloaded.
 */
async function describeContent({ handle, path, stats }: AllowedPath): Promise<Record<string, string>> {
  const header = Buffer.alloc(IMAGE_HEADER_BYTES);
  const { bytesRead } = await handle.read(header, 0, header.length, 0);
  const image = imageType(header.subarray(0, bytesRead));
  const name = encodeURIComponent(basename(path).toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return {
    "content-type": image ?? "application/octet-stream",
    "content-disposition": `${image ? "inline" : "attachment"}; filename*=UTF-8''${name}`,
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-cache",
    "last-modified": new Date(Number(stats.mtimeMs)).toUTCString(),
  };
}
