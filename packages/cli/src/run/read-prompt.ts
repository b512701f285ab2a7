import type { Input } from "codexkit";
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { CliContext } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { checkId } from "../options/check-id.ts";
import { revealLine } from "../terminal/sanitize.ts";
import type { ThreadCommandOptions } from "./thread-options.ts";

/** Thread IDs are UUIDs; session IDs have a prefix. */
const ID = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{2,4}_\w+)$/i;

/**
 * Matches the beginning of an ID as a user may type it. It must contain a digit, because words such as "feed"
 * are hexadecimal too.
 */
const ID_PREFIX = /^(?=[^\d]*\d)[0-9a-f-]{4,36}$/i;

/** Matches a URL, or an address without a scheme, which is reported when connecting to the daemon. */
const ADDRESS = /^(?:[a-z][\w+.-]*:\/\/\S*|(?:[\w.-]+|\[[^\]\s]*\]):\d+\/?)$/i;

/**
 * `--daemon` and `--resume` take an optional value, so commander treats the next word as that value. If the
 * word is not an address or an ID, moves it to the prompt. Rejects a word that could be either.
 */
export function separatePrompt<Options extends ThreadCommandOptions>(
  words: string,
  given: Options,
): { prompt: string; options: Options } {
  const { daemon } = given;
  if (typeof daemon !== "string" || ADDRESS.test(daemon)) return separateResume(words, given);
  return separateResume(joinWords(daemon, words), { ...given, daemon: true });
}

function separateResume<Options extends ThreadCommandOptions>(
  prompt: string,
  options: Options,
): { prompt: string; options: Options } {
  const { resume, daemon } = options;
  if (typeof resume !== "string") return { prompt, options };
  const isSession = daemon !== undefined;
  checkId(resume, isSession ? "session" : "thread");
  const looksLikeId = ID_PREFIX.test(resume);
  if (ID.test(resume) || (isSession && (looksLikeId || prompt !== ""))) return { prompt, options };
  if (prompt === "" && !looksLikeId) return { prompt: resume, options: { ...options, resume: true } };
  throw usageError(
    `"${revealLine(resume)}" is not the ID of a thread.`,
    "Pass the complete ID, as printed by `codexkit threads`. Without an ID, put the prompt in quotes.",
  );
}

function joinWords(...words: readonly string[]): string {
  return words.filter(Boolean).join(" ");
}

/**
 * Reads the prompt from the command line, or from stdin for `-`, or if no prompt was given and stdin is not a
 * terminal.
 */
export async function readPrompt(prompt: string, { stdin }: CliContext): Promise<string> {
  const isFromStdin = prompt === "-" || (prompt === "" && !stdin.isTTY);
  const read = isFromStdin ? await text(stdin) : prompt;
  if (read.trim() !== "") return read;
  throw usageError(
    isFromStdin && prompt === "-" ? "The prompt on stdin is empty." : "The prompt is missing.",
    'Pass it as an argument, as in `codexkit run "Make the failing test pass"`, or on stdin with `-`.',
  );
}

/** Combines the message and its images. */
export function toInput(prompt: string, images: readonly string[] = []): Input {
  const paths = images.map((image) => resolve(image));
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) throw usageError(`The image ${missing} does not exist.`);
  for (const path of paths) imageType(path);
  return paths.length === 0 ? prompt : [prompt, ...paths.map((image) => ({ image }))];
}

/** Hexadecimal signatures of image files. A dot matches any digit. */
const SIGNATURES: readonly (readonly [type: string, pattern: RegExp])[] = [
  ["png", /^89504e470d0a1a0a/],
  ["jpeg", /^ffd8ff/],
  ["gif", /^47494638(?:37|39)61/],
  ["webp", /^52494646.{8}57454250/],
];

const SIGNATURE_BYTES = 12;

/**
 * Detects the type of an image by its first bytes: the extension may be wrong, and models reject other files
 * only late.
 */
export function imageType(path: string): string {
  const start = readStart(path);
  const [type] = SIGNATURES.find(([, pattern]) => pattern.test(start)) ?? [];
  if (type !== undefined) return type;
  throw usageError(`${path} is not an image.`, "Pass a PNG, JPEG, GIF or WebP file with --image.");
}

function readStart(path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const buffer = Buffer.alloc(SIGNATURE_BYTES);
      return buffer.toString("hex", 0, readSync(file, buffer));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    throw usageError(`The image ${path} can't be read (${code}).`);
  }
}
