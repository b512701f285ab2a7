import type { LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";
import type { JsonValue, ToolResult } from "codexkit";
import { type Content, readFile, type ReadContext } from "./read-file.ts";

/** Reads a tool's result into a form that models accept. */
export async function readToolOutput(
  output: LanguageModelV4ToolResultOutput,
  context: ReadContext,
): Promise<readonly Content[]> {
  switch (output?.type) {
    case "text":
    case "error-text":
      return [text(output.value)];
    case "json":
    case "error-json":
      return [text(toJson(output.value))];
    case "execution-denied":
      return [text(output.reason ? `The call was denied: ${output.reason}` : "The call was denied.")];
    case "content":
      return readContent(output.value, context);
    default:
      // Older AI SDK releases pass a plain value here.
      return [text(toJson(output))];
  }
}

/** Converts the result for the SDK. */
export function toToolResult(contents: readonly Content[]): ToolResult {
  const [only, ...more] = contents;
  if (only?.type === "text" && more.length === 0) return only.text;
  return contents.map((content) =>
    content.type === "text" ? { text: content.text } : { image: content.dataUrl },
  );
}

/** Converts the result to the output of a `function_call_output` item. */
export function toOutputBody(contents: readonly Content[]): JsonValue {
  const [only, ...more] = contents;
  if (only?.type === "text" && more.length === 0) return only.text;
  return contents.map(toInputContent);
}

/** Converts a content part to the format of the Responses API. */
export function toInputContent(content: Content): JsonValue {
  return content.type === "text"
    ? { type: "input_text", text: content.text }
    : { type: "input_image", image_url: content.dataUrl };
}

async function readContent(
  parts: Extract<LanguageModelV4ToolResultOutput, { type: "content" }>["value"],
  context: ReadContext,
): Promise<readonly Content[]> {
  const contents = await Promise.all(
    parts.map(async (part): Promise<Content[]> => {
      if (part.type === "text") return [text(part.text)];
      if (part.type === "file") return [await readFile(part, context)];
      context.warn({
        type: "unsupported",
        feature: `tool result content of type ${String((part as { type?: unknown }).type)}`,
        details: "It was left out: Codex accepts only text, images and text files in tool results.",
      });
      return [];
    }),
  );
  const shown = contents.flat();
  return shown.length === 0 ? [text("The tool returned nothing.")] : shown;
}

/** Converts values that are not JSON (`undefined`, a function) to readable text. */
function toJson(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function text(words: string): Content {
  return { type: "text", text: words };
}
