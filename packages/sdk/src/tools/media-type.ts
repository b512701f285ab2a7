import { extname } from "node:path";

/** How files of a type begin; `at` where the mark is not at the very front. */
const marks: readonly { readonly type: string; readonly mark: string; readonly at?: number }[] = [
  { type: "image/png", mark: "\u0089PNG\r\n" },
  { type: "image/jpeg", mark: "\u00FF\u00D8\u00FF" },
  { type: "image/gif", mark: "GIF8" },
  { type: "image/webp", mark: "WEBP", at: 8 },
  { type: "audio/wav", mark: "WAVE", at: 8 },
  { type: "audio/mpeg", mark: "ID3" },
  { type: "audio/mpeg", mark: "\u00FF\u00FB" },
  { type: "audio/ogg", mark: "OggS" },
  { type: "audio/flac", mark: "fLaC" },
  { type: "audio/mp4", mark: "ftypM4A", at: 4 },
];

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

/** The type of an image or a sound, by its first bytes, else by its name. */
export function mediaType(kind: "image" | "audio", bytes: Uint8Array, path?: string): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 16));
  const byBytes = marks.find(({ type, mark, at = 0 }) => type.startsWith(kind) && start.startsWith(mark, at));
  const byName = extensions[extname(path ?? "").toLowerCase()];
  return byBytes?.type ?? (byName?.startsWith(kind) ? byName : undefined);
}
