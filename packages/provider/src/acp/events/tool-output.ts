import { z } from "zod";
import type { ToolCallPart, ToolContent } from "./session-notification.ts";

/** The output of a tool, from every field in which agents send it. */
export interface ToolOutput {
  /** The text of the newest `content`. */
  readonly content: string;
  /** Terminal output, which arrives in chunks. */
  readonly terminal: string;
  readonly raw: unknown;
}

export const NO_OUTPUT: ToolOutput = { content: "", terminal: "", raw: undefined };

const chunk = z.looseObject({ data: z.string() });
const terminalMeta = z.looseObject({
  terminal_output: chunk.optional(),
  terminal_output_delta: chunk.optional(),
});

/** Adds a part of a call that has started: `content` and `rawOutput` replace what was there, terminal output is appended. */
export function addOutput(before: ToolOutput, part: ToolCallPart): ToolOutput {
  const meta = terminalMeta.safeParse(part._meta).data;
  const { data = "" } = meta?.terminal_output_delta ?? meta?.terminal_output ?? {};
  return {
    content: part.content ? textOfContent(part.content) : before.content,
    terminal: before.terminal + data,
    raw: part.rawOutput ?? before.raw,
  };
}

/** The output so far, for progress events. */
export function partialOutput({ content, terminal }: ToolOutput): string {
  return content === "" ? terminal : content;
}

/** The final output. Raw text comes first, because agents format `content` for display. */
export function finalOutput(output: ToolOutput): string {
  const { raw } = output;
  const rawText = typeof raw === "string" ? raw : textOfRaw(raw);
  const text = rawText !== undefined && rawText !== "" ? rawText : partialOutput(output);
  if (text !== "" || rawText !== undefined || raw === undefined || raw === null) return text;
  return JSON.stringify(raw);
}

function textOfContent(content: readonly ToolContent[]): string {
  return content
    .map(({ type, content: inner, path }) =>
      type === "diff" ? `changed ${path ?? "a file"}` : (inner?.text ?? ""),
    )
    .filter((text) => text !== "")
    .join("\n");
}

const text = z.string();
const contentList = z
  .looseObject({ content: z.array(z.looseObject({ text: z.string().optional() })) })
  .transform(({ content }) => content.map((part) => part.text ?? "").join("\n"));

/** The shapes of `rawOutput` that agents send: of commands, the agent's own tools, MCP servers and failures. */
const knownOutput = z.union([
  z.looseObject({ formatted_output: text }).transform((raw) => raw.formatted_output),
  z.looseObject({ aggregated_output: text }).transform((raw) => raw.aggregated_output),
  z.looseObject({ output: text }).transform((raw) => raw.output),
  z
    .looseObject({ stdout: text, stderr: text.optional() })
    .transform((raw) => raw.stdout + (raw.stderr ?? "")),
  z.looseObject({ error: z.looseObject({ message: text }) }).transform((raw) => raw.error.message),
  z.looseObject({ error: text.min(1) }).transform((raw) => raw.error),
  z.looseObject({ result: contentList }).transform((raw) => raw.result),
  contentList,
]);

function textOfRaw(raw: unknown): string | undefined {
  return knownOutput.safeParse(raw).data;
}
