import { isUtf8 } from "node:buffer";
import { CODES, Refusal } from "./refusal.ts";

/** A path of this machine: text if it is UTF-8, bytes otherwise. */
export type NativePath = string | Buffer;

/** Prefix for paths that a URI can't express. They are sent in base64. */
const OPAQUE = "/%00/bad/path/";

const SLASH = 47;

/**
 * Parses a `file:` URI. Resolves dot segments in the text, before the file system sees them, as Codex does.
 */
export function nativePath(uri: string, foreignCode: number = CODES.invalidRequest): NativePath {
  const url = parseUri(uri);
  if (url.pathname.startsWith(OPAQUE)) return opaquePath(url.pathname.slice(OPAQUE.length), uri);
  const foreign = url.host !== "" || /^\/[A-Za-z]:(?:\/|$)/.test(url.pathname) || /%00/.test(url.pathname);
  if (foreign) throw new Refusal(foreignCode, `'${uri}' is invalid on '${process.platform}'`);
  if (!url.pathname.includes("%")) return url.pathname;
  const bytes = percentDecoded(url.pathname);
  return isUtf8(bytes) ? bytes.toString("utf8") : bytes;
}

/** Like `nativePath`, for values that must be text, such as a working directory. */
export function nativeTextPath(uri: string, foreignCode: number = CODES.invalidParams): string {
  const path = nativePath(uri, foreignCode);
  if (typeof path === "string") return path;
  throw new Refusal(foreignCode, `'${uri}' is not UTF-8.`);
}

/** Returns the URI of an absolute path. */
export function pathUri(path: NativePath): string {
  const bytes = typeof path === "string" ? Buffer.from(path) : path;
  let uri = "file://";
  for (const byte of bytes) uri += PLAIN.has(byte) ? String.fromCharCode(byte) : percent(byte);
  return uri;
}

/** Returns the path of an entry in a folder. */
export function joinPath(folder: NativePath, name: Buffer): NativePath {
  const parent = typeof folder === "string" ? Buffer.from(folder) : folder;
  const slash = parent.at(-1) === SLASH ? [] : [Buffer.of(SLASH)];
  const joined = Buffer.concat([parent, ...slash, name]);
  return isUtf8(joined) ? joined.toString("utf8") : joined;
}

/**
 * Bytes that are not escaped in a path. A backslash would be read as a slash, and a bar as the colon of a
 * drive.
 */
const PLAIN = new Set(
  Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/"),
);

function percent(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** Parses a `file:` URI of any system. */
export function parseUri(uri: string): URL {
  let url: URL;
  try {
    url = new URL(uri);
  } catch (error) {
    throw badUri(error instanceof Error ? `invalid URI: ${error.message}` : "invalid URI");
  }
  if (url.protocol !== "file:") throw badUri(`unsupported path URI scheme \`${url.protocol.slice(0, -1)}\``);
  if (url.search !== "" || uri.includes("?")) throw badUri("query parameters are not allowed in path URIs");
  if (url.hash !== "" || uri.includes("#")) throw badUri("fragments are not allowed in path URIs");
  return url;
}

function opaquePath(encoded: string, uri: string): Buffer {
  const bytes = Buffer.from(encoded, "base64url");
  const exact = bytes.length > 0 && bytes.toString("base64url") === encoded;
  if (!exact || bytes.includes(0) || bytes[0] !== SLASH)
    throw badUri(`'${uri}' is invalid on '${process.platform}'`);
  return bytes;
}

function percentDecoded(text: string): Buffer {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const hex = text[at] === "%" ? /^[0-9A-Fa-f]{2}/.exec(text.slice(at + 1, at + 3))?.[0] : undefined;
    if (hex === undefined) {
      bytes.push(...Buffer.from(text[at] ?? ""));
    } else {
      bytes.push(Number.parseInt(hex, 16));
      at += 2;
    }
  }
  return Buffer.from(bytes);
}

function badUri(message: string): Refusal {
  return new Refusal(CODES.invalidParams, message);
}
