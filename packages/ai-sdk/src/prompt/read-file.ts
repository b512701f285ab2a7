import type { SharedV4Warning } from "@ai-sdk/provider";
import type { DownloadError } from "@ai-sdk/provider-utils";
import type { DownloadContext } from "./download.ts";
import { fileKind } from "./file-kind.ts";
import { type FileData, fileSource } from "./file-source.ts";

/** A part of a message, a prompt or a tool result, in a form that models accept. */
export type Content =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly dataUrl: string };

export interface FilePart {
  readonly data: FileData;
  readonly mediaType: string;
  readonly filename?: string | undefined;
}

export interface ReadContext extends DownloadContext {
  /** Receives a warning for each file that can't be passed on. */
  readonly warn: (warning: SharedV4Warning) => void;
  /** Whether a file that can't be downloaded fails the call or is left out. */
  readonly unreachable: "reject" | "leave out";
}

/** Creates a context that collects warnings and leaves out files that can't be downloaded. */
export function createReadContext({ signal, fetch }: DownloadContext): {
  readonly context: ReadContext;
  readonly warnings: SharedV4Warning[];
} {
  const warnings: SharedV4Warning[] = [];
  const warn = (warning: SharedV4Warning): void => void warnings.push(warning);
  return { context: { signal, fetch, warn, unreachable: "leave out" }, warnings };
}

/** The image types that models accept. Codex silently replaces all others with a note. */
const shownImages = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/**
 * Reads a file as content: images unchanged, text inline under its name. Any other file is left out with a warning, and a note
 * replaces it, so that the model does not guess its content.
 */
export async function readFile(file: FilePart, context: ReadContext): Promise<Content> {
  const source = fileSource(file.data);
  const refuse = (why: string): Content => refused(file, why, context);
  if (source.at === "nowhere") return refuse(source.why);
  if (source.at === "text") return inline(file, source.text);

  const kind = fileKind(file.mediaType, file.filename);
  if (kind === "other") return refuse("Codex accepts only images and text files");
  // A prompt may refer to an image by its path, but must not be able to read arbitrary text files on this machine.
  if (kind === "text" && source.at === "url" && source.url.protocol === "file:")
    return refuse("text files are not read from a path; pass the content instead");

  const bytes = source.at === "bytes" ? source.bytes : await fetched(source.url, context);
  if (!(bytes instanceof Uint8Array)) return refuse(bytes.message);
  if (kind === "text") {
    const text = decode(bytes);
    return text === undefined ? refuse("it is not valid UTF-8") : inline(file, text);
  }
  // Loaded with the first image, just as the download code is loaded with the first URL.
  const { detectMediaType } = await import("@ai-sdk/provider-utils");
  const type = detectMediaType({ data: bytes, topLevelType: "image" });
  if (type === undefined || !shownImages.has(type))
    return refuse(
      `Codex accepts PNG, JPEG, GIF and WebP images, but this file is ${type ?? "none of these"}`,
    );
  return { type: "image", dataUrl: `data:${type};base64,${toBase64(bytes)}` };
}

async function fetched(url: URL, context: ReadContext): Promise<Uint8Array | DownloadError> {
  const [{ DownloadError: Failure }, { download }] = await Promise.all([
    import("@ai-sdk/provider-utils"),
    import("./download.ts"),
  ]);
  try {
    return await download(url, context);
  } catch (error) {
    if (context.unreachable === "leave out" && Failure.isInstance(error)) return error;
    throw error;
  }
}

/** Warns the caller that a file can't be passed on, and adds a note for the model. */
function refused({ filename, mediaType }: FilePart, why: string, { warn }: ReadContext): Content {
  const name = filename === undefined ? "A file" : `The file ${JSON.stringify(filename)}`;
  warn({
    type: "unsupported",
    feature: `file of type ${mediaType}`,
    details: `${name} was left out: ${why}`,
  });
  return { type: "text", text: `[${name} of type ${mediaType} was left out: it can't be shown here.]` };
}

function inline({ filename, mediaType }: FilePart, text: string): Content {
  const name = filename === undefined ? "" : ` name=${JSON.stringify(filename)}`;
  return { type: "text", text: `<file${name} type=${JSON.stringify(mediaType)}>\n${text}\n</file>` };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function toBase64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}
