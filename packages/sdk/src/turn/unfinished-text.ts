import type { v2 } from "@codexkit/protocol";
import type { DeltaKind, ItemDeltaEvent } from "../events/event.ts";
import { newestText } from "../events/newest-text.ts";

/** Number of characters kept of an unfinished command's output. The newest are kept. */
const OUTPUT_CHARACTERS = 1024 * 1024;

/** Kinds of deltas whose text is a member of the item. */
const KEPT: ReadonlySet<DeltaKind> = new Set(["message", "plan", "command_output"]);

/** Text of items that have not completed, so that the result of an aborted turn contains it. */
export class UnfinishedText {
  readonly #texts = new Map<string, string>();

  add({ itemId, kind, delta }: ItemDeltaEvent): void {
    if (!KEPT.has(kind)) return;
    const text = (this.#texts.get(itemId) ?? "") + delta;
    // Cut only at twice the limit: cutting at every delta would copy the whole text each time.
    const tooLong = kind === "command_output" && text.length > 2 * OUTPUT_CHARACTERS;
    this.#texts.set(itemId, tooLong ? newestText(text, OUTPUT_CHARACTERS) : text);
  }

  forget(itemId: string): void {
    this.#texts.delete(itemId);
  }

  /** The item with its text so far. A completed item is returned as received. */
  complete(item: v2.ThreadItem): v2.ThreadItem {
    const text = this.#texts.get(item.id);
    if (text === undefined) return item;
    if (item.type === "agentMessage" || item.type === "plan") return { ...item, text };
    if (item.type === "commandExecution") return { ...item, aggregatedOutput: item.aggregatedOutput || text };
    return item;
  }
}
