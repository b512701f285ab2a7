import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ItemDeltaEvent } from "codexkit";
import type { ItemOf } from "../items/tool-view.ts";
import { type PartMetadata, providerMetadata } from "../items/metadata.ts";

type Part = LanguageModelV4StreamPart;
type Kind = "summary" | "raw";

interface Block {
  readonly id: string;
  readonly kind: Kind;
}

/** Converts reasoning. Each summary part and each raw part is one block, which ends before the next begins. */
export class ReasoningParts {
  readonly #metadata: (itemId: string) => PartMetadata;
  /** Emitted length of each block, by block id. */
  readonly #shown = new Map<string, number>();
  readonly #open = new Map<string, Block>();

  constructor(metadata: (itemId: string) => PartMetadata) {
    this.#metadata = metadata;
  }

  delta({ itemId, kind, index = 0, delta }: ItemDeltaEvent): Part[] {
    return this.#write(itemId, kind === "reasoning" ? "raw" : "summary", index, delta);
  }

  completed({ id, summary, content }: ItemOf<"reasoning">): Part[] {
    return [
      ...summary.flatMap((text, index) => this.#rest(id, "summary", index, text)),
      ...content.flatMap((text, index) => this.#rest(id, "raw", index, text)),
      ...this.#close(id),
    ];
  }

  endStep(): Part[] {
    return [...this.#open.keys()].flatMap((itemId) => this.#close(itemId));
  }

  /** Emits text that had no deltas or whose deltas were missed. */
  #rest(itemId: string, kind: Kind, index: number, text: string): Part[] {
    const rest = text.slice(this.#shown.get(blockId(itemId, kind, index)) ?? 0);
    return rest === "" ? [] : this.#write(itemId, kind, index, rest);
  }

  #write(itemId: string, kind: Kind, index: number, delta: string): Part[] {
    const id = blockId(itemId, kind, index);
    const parts: Part[] = [];
    if (this.#open.get(itemId)?.id !== id) {
      parts.push(...this.#close(itemId));
      this.#open.set(itemId, { id, kind });
      parts.push({ type: "reasoning-start", id, providerMetadata: this.#provided(itemId, kind) });
    }
    this.#shown.set(id, (this.#shown.get(id) ?? 0) + delta.length);
    parts.push({ type: "reasoning-delta", id, delta });
    return parts;
  }

  #close(itemId: string): Part[] {
    const block = this.#open.get(itemId);
    this.#open.delete(itemId);
    if (block === undefined) return [];
    return [{ type: "reasoning-end", id: block.id, providerMetadata: this.#provided(itemId, block.kind) }];
  }

  #provided(itemId: string, reasoning: Kind): ReturnType<typeof providerMetadata> {
    return providerMetadata({ ...this.#metadata(itemId), reasoning });
  }
}

function blockId(itemId: string, kind: Kind, index: number): string {
  return `${itemId}:${kind}:${index}`;
}
