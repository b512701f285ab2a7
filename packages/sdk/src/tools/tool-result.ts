import type { v2 } from "@codexkit/protocol";
import { Buffer } from "node:buffer";
import { open } from "node:fs/promises";
import { toolLimits } from "./limits.ts";
import { mediaType } from "./media-type.ts";
import type { ToolPart } from "./tool.ts";

type Content = v2.DynamicToolCallOutputContentItem;

/** What a tool that returns nothing tells the model; a result without content would leave it guessing. */
const NOTHING = "Done.";

/** Writes what `execute` returned as the content of a result. Rejects for media that can't be read, or what is no JSON. */
export async function toContent(result: unknown): Promise<Content[]> {
  if (result === undefined) return [text(NOTHING)];
  if (typeof result === "string") return [text(result)];
  if (isPart(result)) return [await partContent(result)];
  // A list is a list of parts if there is a part in it; plain values alone are data.
  if (
    Array.isArray(result) &&
    result.some(isPart) &&
    result.every((one) => isPart(one) || typeof one === "string")
  ) {
    return Promise.all(result.map(async (one) => (typeof one === "string" ? text(one) : partContent(one))));
  }
  // A function or a symbol has no JSON: `undefined`, in spite of what the types say.
  const json = JSON.stringify(result, undefined, 2) as string | undefined;
  if (json === undefined) throw new TypeError(`the result is a ${typeof result}, which JSON can't hold`);
  return [text(json)];
}

/** An object with the keys of a part and no others; anything more is data that happens to look like one. */
function isPart(value: unknown): value is ToolPart {
  if (typeof value !== "object" || value === null) return false;
  const { text: words, image, audio } = value as { text?: unknown; image?: unknown; audio?: unknown };
  const keys = Object.keys(value).filter((key) => key !== "mimeType");
  if (keys.length !== 1) return false;
  if (typeof words === "string") return !("mimeType" in value);
  return [image, audio].some((media) => typeof media === "string" || media instanceof Uint8Array);
}

async function partContent(part: ToolPart): Promise<Content> {
  if ("text" in part) return text(part.text);
  return "image" in part
    ? { type: "inputImage", imageUrl: await dataUrl("image", part.image, part.mimeType) }
    : { type: "inputAudio", audioUrl: await dataUrl("audio", part.audio, part.mimeType) };
}

async function dataUrl(
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
  const type = given ?? mediaType(kind, bytes, typeof media === "string" ? media : undefined);
  if (type === undefined) throw new TypeError(`the type of the ${kind} is unknown; give it as mimeType`);
  const { buffer, byteOffset, byteLength } = bytes;
  return `data:${type};base64,${Buffer.from(buffer, byteOffset, byteLength).toString("base64")}`;
}

/** Looks at the size first: a path may lead to anything. */
async function readMedia(kind: "image" | "audio", path: string): Promise<Uint8Array> {
  if (/^https?:/i.test(path)) {
    throw new TypeError(`the ${kind} is an address; bytes, a data URL or the path of a file are needed`);
  }
  await using file = await open(path);
  checkSize(kind, (await file.stat()).size);
  return await file.readFile();
}

function checkSize(kind: string, bytes: number): void {
  if (bytes <= toolLimits.mediaBytes) return;
  throw new RangeError(`the ${kind} is larger than ${toolLimits.mediaBytes} bytes (mediaBytes)`);
}

function text(words: string): Content {
  const { textCharacters: limit } = toolLimits;
  if (words.length <= limit) return { type: "inputText", text: words };
  const note = `\n[${words.length - limit} more characters were left out: a result has ${limit} at most]`;
  return { type: "inputText", text: words.slice(0, limit) + note };
}
