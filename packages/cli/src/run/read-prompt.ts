import type { Input } from "codexkit";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { CliContext } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import type { ThreadCommandOptions } from "./thread-options.ts";

/** IDs of threads are UUIDs, and IDs of sessions have a prefix. */
const ID = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{2,4}_\w+)$/i;

/**
 * `--resume` takes an optional ID, so that commander reads the first word after it as one. Moves it to the prompt if it is not
 * an ID.
 */
export function separateResume<Options extends ThreadCommandOptions>(
  prompt: string,
  options: Options,
): { prompt: string; options: Options } {
  const { resume } = options;
  if (typeof resume !== "string" || ID.test(resume)) return { prompt, options };
  return { prompt: [resume, prompt].filter(Boolean).join(" "), options: { ...options, resume: true } };
}

/** The prompt of the command line, or of stdin for `-` and where no prompt was given and stdin is not a terminal. */
export async function readPrompt(prompt: string, { stdin }: CliContext): Promise<string> {
  const isFromStdin = prompt === "-" || (prompt === "" && !stdin.isTTY);
  const read = isFromStdin ? await text(stdin) : prompt;
  if (read.trim() !== "") return read;
  throw usageError(
    isFromStdin && prompt === "-" ? "The prompt on stdin is empty." : "The prompt is missing.",
    'Pass it as an argument, as in `codexkit run "Make the failing test pass"`, or on stdin with `-`.',
  );
}

/** The message with its images. */
export function toInput(prompt: string, images: readonly string[] = []): Input {
  const paths = images.map((image) => resolve(image));
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) throw usageError(`The image ${missing} does not exist.`);
  return paths.length === 0 ? prompt : [prompt, ...paths.map((image) => ({ image }))];
}
