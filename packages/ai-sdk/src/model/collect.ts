import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { InvalidResponseDataError } from "@ai-sdk/provider";
import type { AnswerFormat } from "../call/answer-format.ts";

type Part = LanguageModelV4StreamPart;
type Finish = Extract<Part, { type: "finish" }>;
type Response = NonNullable<LanguageModelV4GenerateResult["response"]>;
type Block = Extract<LanguageModelV4Content, { type: "text" | "reasoning" }>;

/** Collects a stream's content in the order in which its parts started. If there is an error part, throws its error. */
export async function collect(
  stream: ReadableStream<Part>,
  format: AnswerFormat,
): Promise<LanguageModelV4GenerateResult> {
  const content: LanguageModelV4Content[] = [];
  const blocks = new Map<string, Block>();
  let warnings: readonly SharedV4Warning[] = [];
  const response: Response = {};
  let finish: Finish | undefined;
  for await (const part of stream) {
    switch (part.type) {
      case "stream-start":
        ({ warnings } = part);
        break;
      case "response-metadata": {
        const { type: _, ...metadata } = part;
        Object.assign(response, metadata);
        break;
      }
      case "text-start":
      case "reasoning-start": {
        const type = part.type === "text-start" ? "text" : "reasoning";
        const block: Block = { type, text: "", ...metadataOf(part) };
        blocks.set(part.id, block);
        content.push(block);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const block = blocks.get(part.id);
        if (block) block.text += part.delta;
        break;
      }
      case "text-end":
      case "reasoning-end": {
        const block = blocks.get(part.id);
        if (block) Object.assign(block, metadataOf(part));
        break;
      }
      case "tool-result":
        if (part.preliminary !== true) content.push(part);
        break;
      case "tool-call":
      case "tool-approval-request":
      case "file":
      case "reasoning-file":
      case "source":
      case "custom":
        content.push(part);
        break;
      case "finish":
        finish = part;
        break;
      case "error":
        throw part.error;
      // Parts whose content also arrives as a whole, and parts that only streams have.
      default:
        break;
    }
  }
  if (finish === undefined) {
    throw new InvalidResponseDataError({ data: content, message: "The stream ended without a finish part." });
  }
  const { finishReason, usage } = finish;
  return {
    content,
    finishReason,
    usage,
    warnings: [...warnings],
    response,
    ...metadataOf(finish),
    ...(format.isJson && structuredText(content)),
  };
}

/** Only the final message is parsed; earlier commentary is not part of the JSON. */
function structuredText(content: readonly LanguageModelV4Content[]): {
  readonly structuredOutputText?: string;
} {
  const last = content.findLast((part) => part.type === "text");
  return last === undefined ? {} : { structuredOutputText: last.text };
}

function metadataOf({
  providerMetadata,
}: Pick<Finish, "providerMetadata">): Pick<Finish, "providerMetadata"> {
  return providerMetadata === undefined ? {} : { providerMetadata };
}
