import type { v2 } from "@codexkit/protocol";
import { Buffer } from "node:buffer";
import { open } from "node:fs/promises";
import { TOOL_LIMITS } from "./limits.ts";
import { detectMediaType } from "./media-type.ts";
import type { ToolPart } from "./tool.ts";

type Content = v2.DynamicToolCallOutputContentItem;

/** Result of a tool that returns nothing. Without content, the model could not know that the call succeeded. */
const EMPTY_RESULT = "Done.";

/** Converts the value that `execute` returned. Rejects if media can't be read or the value can't be written as JSON. */
export async function toContent(result: unknown): Promise<Content[]> {
  if (result === undefined) return [toText(EMPTY_RESULT)];
  if (typeof result === "string") return [toText(result)];
  if (isPart(result)) return [await partToContent(result)];
  // An array of strings and at least one part is a list of parts. Any other array is data.
  if (
    Array.isArray(result) &&
    result.some(isPart) &&
    result.every((one) => isPart(one) || typeof one === "string")
  ) {
    return Promise.all(
      result.map(async (one) => (typeof one === "string" ? toText(one) : partToContent(one))),
    );
  }
  // Despite its type, `stringify` returns undefined for a function or a symbol.
  const json = JSON.stringify(result, undefined, 2) as string | undefined;
  if (json === undefined)
    throw new TypeError(`the result is a ${typeof result}, which can't be written as JSON`);
  return [toText(json)];
}

/** Whether a value is a part. An object with additional keys is data. */
function isPart(value: unknown): value is ToolPart {
  if (typeof value !== "object" || value === null) return false;
  const { text, image, audio } = value as { text?: unknown; image?: unknown; audio?: unknown };
  const keys = Object.keys(value).filter((key) => key !== "mimeType");
  if (keys.length !== 1) return false;
  if (typeof text === "string") return !("mimeType" in value);
  return [image, audio].some((media) => typeof media === "string" || media instanceof Uint8Array);
}

async function partToContent(part: ToolPart): Promise<Content> {
  if ("text" in part) return toText(part.text);
  return "image" in part
    ? { type: "inputImage", imageUrl: await toDataUrl("image", part.image, part.mimeType) }
    : { type: "inputAudio", audioUrl: await toDataUrl("audio", part.audio, part.mimeType) };
}

async function toDataUrl(
  kind: "image" | "audio",
  media: Uint8Array | string,
  given: string | undefined,
): Promise<string> {
  if (typeof media === "string" && media.startsWith("data:")) {
    checkSize(kind, Math.floor((media.length * 3) / 4));
    return media;
  }
  const bytes = typeof media === "string" ? await readMedia(kind, media) : media;
  checkSize(kind, bytes.byteLength);
  const type = given ?? detectMediaType(kind, bytes, typeof media === "string" ? media : undefined);
  if (type === undefined) throw new TypeError(`the media type of the ${kind} is unknown; set mimeType`);
  const { buffer, byteOffset, byteLength } = bytes;
  return `data:${type};base64,${Buffer.from(buffer, byteOffset, byteLength).toString("base64")}`;
}

/** Reads a file after checking its size, since the path may point to a file of any size. */
async function readMedia(kind: "image" | "audio", path: string): Promise<Uint8Array> {
  if (/^https?:/i.test(path)) {
    throw new TypeError(`the ${kind} is a URL; pass bytes, a data URL or a file path instead`);
  }
  await using file = await open(path);
  checkSize(kind, (await file.stat()).size);
  return await file.readFile();
}

function checkSize(kind: string, bytes: number): void {
  if (bytes <= TOOL_LIMITS.mediaBytes) return;
  throw new RangeError(`the ${kind} is larger than ${TOOL_LIMITS.mediaBytes} bytes (mediaBytes)`);
}

function toText(text: string): Content {
  const { textCharacters: limit } = TOOL_LIMITS;
  if (text.length <= limit) return { type: "inputText", text };
  const note = `\n[${text.length - limit} characters were omitted: a result may have at most ${limit}]`;
  return { type: "inputText", text: text.slice(0, limit) + note };
}
