import type { v1, v2 } from "@codexkit/protocol";
import { stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CodexError } from "../errors.ts";
import { sniffMediaType } from "./media-type.ts";

/** Bytes, a `data:` URL, a path (relative ones are resolved against the thread's folder), or a `file:` URL. */
export type Media = Uint8Array | string | URL;

export interface TextPart {
  readonly text: string;
  /** Ranges of the text that are placeholders. See `textElements`. */
  readonly elements?: readonly v2.TextElement[];
}

export interface ImagePart {
  readonly image: Media;
  /** Type of the bytes. PNG, JPEG, GIF and WebP are recognised without it. */
  readonly mimeType?: string;
  /** Resolution for the model. `"low"` is not offered, because Codex silently drops such images. */
  readonly detail?: Exclude<v1.ImageDetail, "low">;
}

export interface AudioPart {
  readonly audio: Media;
  /** Type of the bytes. WAV and MP3 are recognised without it. */
  readonly mimeType?: string;
}

/** A skill to use. Also mention it as `$name` in the text. */
export interface SkillPart {
  readonly skill: { readonly name: string; readonly path: string };
}

/** A file, an app (`app://id`) or a plugin (`plugin://name@market`) that the text mentions as `@name`. */
export interface MentionPart {
  readonly mention: { readonly name: string; readonly path: string };
}

/** One part of an input. Parts with a `type` are in Codex's own format and are passed on unchanged. */
export type InputPart = TextPart | ImagePart | AudioPart | SkillPart | MentionPart | v2.UserInput;

/** Input of a turn: a text, a part, or a list of parts. */
export type Input = string | InputPart | readonly (string | InputPart)[];

export interface InputContext {
  /** Folder that relative paths are resolved against. */
  readonly cwd: string;
  /** Whether the server shares this file system, so that missing paths can be rejected early. Default: true. */
  readonly local?: boolean;
}

/** Codex's limit. It counts only the code points of all text parts together. */
export const MAX_INPUT_CHARACTERS = 1_048_576;

/**
 * Converts input to Codex's format and validates it: Codex accepts missing files and remote URLs, and drops them
 * later.
 */
export async function toUserInput(input: Input, context: InputContext): Promise<v2.UserInput[]> {
  const parts: readonly (string | InputPart)[] = Array.isArray(input) ? input : [input as string | InputPart];
  const userInput = await Promise.all(parts.map((part) => toPart(part, context)));
  checkLength(userInput);
  return userInput;
}

/**
 * Locates placeholders in a text, in the byte offsets that Codex uses, for clients that render them.
 * @example
 * const text = "Look at [Image #1]";
 * await thread.run([{ text, elements: textElements(text, ["[Image #1]"]) }, { image: "shot.png" }]);
 */
export function textElements(text: string, placeholders: readonly string[]): v2.TextElement[] {
  let from = 0;
  return placeholders.map((placeholder) => {
    const at = text.indexOf(placeholder, from);
    if (at === -1)
      throw invalid(
        `The text does not contain "${placeholder}"${from > 0 ? " after the previous placeholder" : ""}.`,
      );
    from = at + placeholder.length;
    const start = Buffer.byteLength(text.slice(0, at));
    return { byteRange: { start, end: start + Buffer.byteLength(placeholder) }, placeholder };
  });
}

async function toPart(part: string | InputPart, context: InputContext): Promise<v2.UserInput> {
  if (typeof part === "string") return { type: "text", text: part, text_elements: [] };
  if (typeof part !== "object" || part === null)
    throw invalid(`An input part must be a string or an object, got ${String(part)}.`);
  if ("type" in part) return part;
  if ("text" in part) return { type: "text", text: part.text, text_elements: [...(part.elements ?? [])] };
  if ("image" in part) {
    const detail = part.detail === undefined ? {} : { detail: part.detail };
    const media = await toMedia("image", part.image, part.mimeType, context);
    return "url" in media
      ? { type: "image", ...media, ...detail }
      : { type: "localImage", ...media, ...detail };
  }
  if ("audio" in part) {
    const media = await toMedia("audio", part.audio, part.mimeType, context);
    return "url" in media ? { type: "audio", ...media } : { type: "localAudio", ...media };
  }
  if ("skill" in part) {
    const path = resolve(context.cwd, part.skill.path);
    await checkFile("skill", path, context);
    return { type: "skill", name: part.skill.name, path };
  }
  if ("mention" in part) {
    const { name, path } = part.mention;
    return { type: "mention", name, path: /^[a-z]+:\/\//i.test(path) ? path : resolve(context.cwd, path) };
  }
  throw invalid(
    `An input part needs text, image, audio, skill or mention; got ${Object.keys(part).join(", ") || "nothing"}.`,
  );
}

async function toMedia(
  kind: "image" | "audio",
  media: Media,
  mimeType: string | undefined,
  context: InputContext,
): Promise<{ url: string } | { path: string }> {
  if (media instanceof Uint8Array) return { url: toDataUrl(kind, media, mimeType) };
  const address = String(media);
  if (/^data:/i.test(address)) {
    if (!/^data:[^,]*;base64,/i.test(address))
      throw invalid(`The data URL of an ${kind} must be base64-encoded.`);
    return { url: address };
  }
  if (/^https?:/i.test(address)) {
    throw invalid(`Codex does not download ${kind} files (${address}). Download it and pass its bytes.`);
  }
  const path = toPath(address, context.cwd);
  await checkFile(kind, path, context);
  return { path };
}

function toDataUrl(kind: "image" | "audio", bytes: Uint8Array, mimeType = sniffMediaType(bytes)): string {
  if (mimeType === undefined) throw invalid(`The type of the ${kind} is unknown. Pass it as mimeType.`);
  if (!mimeType.startsWith(`${kind}/`)) throw invalid(`The bytes are ${mimeType}, not ${kind}.`);
  return `data:${mimeType};base64,${Buffer.from(bytes).toString("base64")}`;
}

function toPath(address: string, cwd: string): string {
  if (/^file:/i.test(address)) return fileURLToPath(address);
  // A letter and a colon is a Windows drive, not a scheme.
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(address))
    throw invalid(`"${address}" is not a data URL, file URL or path.`);
  return isAbsolute(address) ? address : resolve(cwd, address);
}

async function checkFile(kind: string, path: string, { local = true }: InputContext): Promise<void> {
  if (!local) return;
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw invalid(`No ${kind} file exists at "${path}".`);
}

function checkLength(input: readonly v2.UserInput[]): void {
  const texts = input.flatMap((part) => (part.type === "text" ? [part.text] : []));
  // A code point takes one or two UTF-16 units: only texts near the limit are counted.
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  if (units <= MAX_INPUT_CHARACTERS) return;
  const characters = texts.reduce((sum, text) => sum + countCodePoints(text), 0);
  if (characters > MAX_INPUT_CHARACTERS) {
    throw new CodexError(
      "input_too_large",
      `The input has ${characters} characters; Codex accepts ${MAX_INPUT_CHARACTERS}. Put the rest into a file.`,
    );
  }
}

function countCodePoints(text: string): number {
  let surrogates = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit <= 0xdbff) surrogates += 1;
  }
  return text.length - surrogates;
}

function invalid(message: string): CodexError {
  return new CodexError("invalid_argument", message);
}
