import { isCancel, password, select, text } from "@clack/prompts";
import { PassThrough } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as delay } from "node:timers/promises";
import { BRACKETED_PASTE } from "./line-editor.ts";
import { PASTED_BREAK, PasteFilter } from "./paste-filter.ts";
import { ChoiceKeys } from "./choice-keys.ts";

/** The terminal that a prompt uses. */
export interface PromptStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  /** Closes the prompt when it aborts. */
  readonly signal: AbortSignal;
  /** Receives text that was typed but is not an answer, for the line that the user was typing. */
  readonly onText?: ((typed: string) => void) | undefined;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** Keys pressed before the user had time to see the question were meant for something else. */
const READING_MS = 400;

/**
 * Asks the user to choose. The choices appear after the user had time to read the lines above them, and typed
 * text is never taken as an answer. Undefined if the prompt was cancelled.
 */
export async function askChoice(
  { message, choices, initial }: { message: string; choices: readonly Choice[]; initial?: string },
  streams: PromptStreams,
): Promise<string | undefined> {
  const picked = await readKeys(streams, "choice", (input) =>
    select<string>({
      message,
      options: [...choices],
      ...(initial !== undefined && { initialValue: initial }),
      input,
      output: streams.output,
      signal: streams.signal,
    }),
  );
  return isCancel(picked) ? undefined : picked;
}

/** Asks for text. Undefined if the prompt was cancelled. */
export async function askText(
  {
    message,
    isSecret = false,
    initial,
    validate,
  }: {
    message: string;
    isSecret?: boolean;
    /** Text that the user can edit. */
    initial?: string;
    validate?: (value: string | undefined) => string | undefined;
  },
  streams: PromptStreams,
): Promise<string | undefined> {
  const ask = isSecret ? password : text;
  const answer = await readKeys(streams, "text", (input) =>
    ask({
      message,
      ...(validate && { validate }),
      ...(initial !== undefined && { initialValue: initial }),
      input,
      output: streams.output,
      signal: streams.signal,
    }),
  );
  return isCancel(answer) ? undefined : answer;
}

/** Opens a prompt that receives only the keys meant for it. */
async function readKeys<Value>(
  { input, output, signal, onText }: PromptStreams,
  kind: "choice" | "text",
  ask: (keys: NodeJS.ReadableStream & PassThrough) => Promise<Value>,
): Promise<Value> {
  const keys = new PassThrough();
  const filter = new ChoiceKeys();
  const decoder = new StringDecoder("utf8");
  const pastes = new PasteFilter();
  let isReadable = false;
  const onData = (chunk: Buffer): void => {
    const typed = pastes.filter(decoder.write(chunk));
    if (!isReadable) keys.write(filter.holdText(typed));
    else keys.write(kind === "choice" ? filter.filter(typed) : typed.replaceAll(PASTED_BREAK, " "));
  };
  input.on("data", onData);
  input.setRawMode(true);
  input.resume();
  output.write(BRACKETED_PASTE.on);
  try {
    // If the prompt was cancelled meanwhile, it opens and closes at once.
    await delay(READING_MS, undefined, { signal }).catch(() => undefined);
    isReadable = true;
    return await ask(keys);
  } finally {
    input.off("data", onData);
    input.pause();
    input.setRawMode(false);
    output.write(BRACKETED_PASTE.off);
    keys.destroy();
    if (filter.typed !== "") onText?.(filter.typed);
  }
}
