import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { extname, join } from "node:path";
import { getMimeType } from "hono/utils/mime";
import { createProblem } from "../api/problem.ts";
import { DaemonError } from "../errors.ts";
import { entityTag, hasTag } from "../files/entity-tag.ts";
import { problemResponse, quote } from "./problems.ts";
import { acceptedEncodings } from "./accept-encoding.ts";
import { pageHeaders } from "./page-headers.ts";

/** Path prefix of the files. The page's links contain it. */
export const STATIC_PREFIX = "/console/";

const INDEX = "index.html";
/** Folder in which Vite puts files whose names contain a hash of their contents. */
const HASHED_FOLDER = "assets/";
const NONCE_META = /<meta\s+name="console-nonce"[^>]*>/;

interface StoredFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly tag: string;
}

/**
 * Serves a folder with the files of a built single-page application. Every path without an extension is a route of the
 * page. A compressed variant can be stored next to each file, as `name.br` or `name.gz`.
 */
export class StaticFiles {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Rejects with `bad_options` if the folder has no index page. */
  static async open(folder: string): Promise<StaticFiles> {
    try {
      const files = new StaticFiles(await realpath(folder));
      if (await files.#read(INDEX)) return files;
      throw new Error(`There is no ${INDEX}.`);
    } catch (error) {
      throw new DaemonError(
        "bad_options",
        `staticFiles: ${quote(folder)} has no readable ${INDEX}. Build the page first.`,
        { cause: error },
      );
    }
  }

  /** `path` is the part after the prefix, still encoded. */
  async respond(request: Request, path: string): Promise<Response> {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return problemResponse(
        createProblem("method_not_allowed", `${request.method} is not allowed here. Use GET or HEAD.`),
        { allow: "GET, HEAD" },
      );
    }
    const name = decodePath(path);
    const response =
      name === undefined
        ? undefined
        : isRoute(name)
          ? await this.#page(request)
          : await this.#file(request, name);
    return response ?? problemResponse(createProblem("not_found", `There is no file ${quote(path)}.`));
  }

  /**
   * Serves the page with a new nonce per response. A page from the browser's cache keeps its nonce together with the
   * header that contains it.
   */
  async #page(request: Request): Promise<Response> {
    const page = await this.#read(INDEX);
    if (!page)
      return problemResponse(
        createProblem("not_found", "The page's file was removed. Build the page again."),
      );
    const caching = { "cache-control": "no-cache", etag: page.tag };
    if (matches(request, page.tag)) {
      const { "content-security-policy": _, ...headers } = pageHeaders();
      return new Response(null, { status: 304, headers: { ...headers, ...caching } });
    }
    const nonce = randomBytes(16).toString("base64");
    const html = insertNonce(new TextDecoder().decode(page.body), nonce);
    const body = new TextEncoder().encode(html);
    return respondWith(request, body, {
      ...pageHeaders(nonce),
      ...caching,
      "content-type": "text/html; charset=utf-8",
    });
  }

  async #file(request: Request, name: string): Promise<Response | undefined> {
    const encodings = acceptedEncodings(request.headers.get("accept-encoding") ?? undefined);
    // The uncompressed file decides whether a file exists at all.
    const original = await this.#read(name);
    if (!original) return undefined;
    let file = original;
    let encoding: string | undefined;
    for (const { encoding: candidate, ending } of encodings) {
      const compressed = await this.#read(name + ending);
      if (!compressed) continue;
      file = compressed;
      encoding = candidate;
      break;
    }
    const headers = {
      ...pageHeaders(),
      etag: file.tag,
      vary: "accept-encoding",
      "cache-control": name.startsWith(HASHED_FOLDER) ? "public, max-age=31536000, immutable" : "no-cache",
    };
    if (matches(request, file.tag)) return new Response(null, { status: 304, headers });
    return respondWith(request, file.body, {
      ...headers,
      "content-type": contentType(name),
      ...(encoding !== undefined && { "content-encoding": encoding }),
    });
  }

  /**
   * Resolves to undefined if the path is not a regular file, or contains a symbolic link, whose target may be outside
   * the folder.
   */
  async #read(name: string): Promise<StoredFile | undefined> {
    const path = join(this.#folder, name);
    let file: FileHandle | undefined;
    try {
      if ((await realpath(path)) !== path) return undefined;
      // Opening a device or a pipe could block.
      file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile()) return undefined;
      return { body: new Uint8Array(await file.readFile()), tag: entityTag(stats) };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "ENAMETOOLONG")
        return undefined;
      throw error;
    } finally {
      await file?.close();
    }
  }
}

/** Returns undefined for a path that could leave the folder or that refers to a hidden file. */
function decodePath(path: string): string | undefined {
  let name: string;
  try {
    name = decodeURIComponent(path);
  } catch {
    return undefined;
  }
  if (/[\\\0]/.test(name)) return undefined;
  return name.split("/").some((segment) => segment.startsWith(".")) ? undefined : name;
}

function isRoute(name: string): boolean {
  return name === INDEX || (extname(name) === "" && !name.startsWith(HASHED_FOLDER));
}

function insertNonce(html: string, nonce: string): string {
  const meta = `<meta name="console-nonce" content="${nonce}">`;
  return NONCE_META.test(html) ? html.replace(NONCE_META, meta) : html.replace("</head>", `${meta}</head>`);
}

function matches(request: Request, tag: string): boolean {
  // Proxies that compress a response make its tag weak. A weak comparison is sufficient for a GET request.
  return hasTag((request.headers.get("if-none-match") ?? "").replaceAll("W/", ""), tag);
}

function contentType(name: string): string {
  return getMimeType(name) ?? "application/octet-stream";
}

function respondWith(
  request: Request,
  body: Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
): Response {
  return new Response(request.method === "HEAD" ? null : body, {
    headers: { ...headers, "content-length": String(body.byteLength) },
  });
}
