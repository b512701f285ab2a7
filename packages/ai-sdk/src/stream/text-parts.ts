import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ItemDeltaEvent } from "codexkit";
import type { ReadAnswer, ReadMessage, ResponseText } from "./answer-reader.ts";
import type { ItemOf } from "../items/tool-view.ts";
import { type PartMetadata, providerMetadata } from "../items/metadata.ts";

type Part = LanguageModelV4StreamPart;
type Spoken = ItemOf<"agentMessage"> | ItemOf<"plan">;

interface Message {
  readonly read: ReadMessage;
  readonly metadata: PartMetadata;
  /** Length of the text read so far. */
  length: number;
  /** Whether part of the text was missed. If so, the rest is taken from the completed item. */
  hasGap: boolean;
  blocks: number;
  open: { readonly id: string; readonly kind: "text" | "reasoning" } | undefined;
}

/** Converts messages and proposed plans. Each is a block of text, or of reasoning if it is not an answer. */
export class TextParts {
  readonly #metadata: (itemId: string) => PartMetadata;
  readonly #readAnswer: ReadAnswer;
  readonly #messages = new Map<string, Message>();
  /** Messages that are the answer only if no other message follows. */
  readonly #undecided: { readonly itemId: string; readonly message: Message; text: string }[] = [];

  constructor(metadata: (itemId: string) => PartMetadata, readAnswer: ReadAnswer) {
    this.#metadata = metadata;
    this.#readAnswer = readAnswer;
  }

  started(item: Spoken): void {
    const phase = item.type === "agentMessage" ? item.phase : null;
    this.#messages.set(item.id, {
      read: this.#readAnswer(phase),
      metadata: { ...this.#metadata(item.id), ...(phase !== null && { phase }) },
      length: 0,
      hasGap: false,
      blocks: 0,
      open: undefined,
    });
  }

  delta({ itemId, delta, omitted = 0 }: ItemDeltaEvent): Part[] {
    const message = this.#messages.get(itemId);
    if (message === undefined) return [];
    message.hasGap ||= omitted > 0;
    return message.hasGap ? [] : this.#say(itemId, message, delta);
  }

  completed(item: Spoken): Part[] {
    if (!this.#messages.has(item.id)) this.started(item);
    const message = this.#messages.get(item.id);
    if (message === undefined) return [];
    this.#messages.delete(item.id);
    return [...this.#say(item.id, message, item.text.slice(message.length)), ...close(message)];
  }

  /** Ends the step. If a message continues, it does so in a new block of the next step. */
  endStep(): Part[] {
    return [...this.#messages.values()].flatMap(close);
  }

  #keep(itemId: string, message: Message, text: string): void {
    const kept = this.#undecided.find((one) => one.message === message);
    if (kept) kept.text += text;
    else this.#undecided.push({ itemId, message, text });
  }

  #say(itemId: string, message: Message, text: string): Part[] {
    message.length += text.length;
    return text === "" ? [] : this.#write(itemId, message, message.read(text));
  }

  /** Classifies undecided messages. All are reasoning, except the last one if the turn ends with it. */
  decide(isEnd: boolean): Part[] {
    const undecided = this.#undecided.splice(0);
    return undecided.flatMap(({ itemId, message, text }, at) => {
      const kind = isEnd && at === undecided.length - 1 ? "text" : "reasoning";
      return [...this.#write(itemId, message, { kind, text }), ...close(message)];
    });
  }

  #write(itemId: string, message: Message, responseText: ResponseText | undefined): Part[] {
    if (responseText === undefined || responseText.text === "") return [];
    if (responseText.kind === "undecided") {
      this.#keep(itemId, message, responseText.text);
      return [];
    }
    const { metadata } = message;
    const parts: Part[] = [];
    if (message.open === undefined) {
      message.blocks += 1;
      const id = message.blocks === 1 ? itemId : `${itemId}:${message.blocks}`;
      message.open = { id, kind: responseText.kind };
      parts.push({ type: `${responseText.kind}-start`, id, providerMetadata: providerMetadata(metadata) });
    }
    const { id, kind } = message.open;
    parts.push({ type: `${kind}-delta`, id, delta: responseText.text });
    return parts;
  }
}

function close(message: Message): Part[] {
  if (message.open === undefined) return [];
  const { id, kind } = message.open;
  message.open = undefined;
  return [{ type: `${kind}-end`, id, providerMetadata: providerMetadata(message.metadata) }];
}
