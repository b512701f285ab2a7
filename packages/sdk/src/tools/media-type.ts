import { extname } from "node:path";
import { sniffMediaType } from "../turn/media-type.ts";

const extensions: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".wav": "audio/wav",
  ".mp3": "audio/mpeg",
  ".ogg": "audio/ogg",
  ".flac": "audio/flac",
  ".m4a": "audio/mp4",
  ".webm": "audio/webm",
};

/** Detects the media type of an image or audio file by its first bytes, else by its file extension. */
export function detectMediaType(
  kind: "image" | "audio",
  bytes: Uint8Array,
  path?: string,
): string | undefined {
  const candidates = [sniffMediaType(bytes), extensions[extname(path ?? "").toLowerCase()]];
  return candidates.find((type) => type?.startsWith(kind));
}
