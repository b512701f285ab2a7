import type { v2 } from "@codexkit/protocol";
import type { DeltaKind, ItemDeltaEvent } from "../events/event.ts";
import { newestText } from "../events/newest-text.ts";

/** How much of the output of a command that did not finish is kept; the newest. */
const OUTPUT_CHARACTERS = 1024 * 1024;

/** The deltas whose text an item has one place for. */
const KEPT: ReadonlySet<DeltaKind> = new Set(["message", "plan", "command_output"]);

/** The text of items that have begun and not completed, so that a turn that is cut short shows what was there. */
export class UnfinishedText {
  readonly #texts = new Map<string, string>();

  add({ itemId, kind, delta }: ItemDeltaEvent): void {
    if (!KEPT.has(kind)) return;
    const text = (this.#texts.get(itemId) ?? "") + delta;
    // Twice the limit before it is cut: cutting at every delta would copy the whole text each time.
    const tooLong = kind === "command_output" && text.length > 2 * OUTPUT_CHARACTERS;
    this.#texts.set(itemId, tooLong ? newestText(text, OUTPUT_CHARACTERS) : text);
  }

  forget(itemId: string): void {
    this.#texts.delete(itemId);
  }

  /** The item with the text that it has so far; one that completed is as the server sent it. */
  complete(item: v2.ThreadItem): v2.ThreadItem {
    const text = this.#texts.get(item.id);
    if (text === undefined) return item;
    if (item.type === "agentMessage" || item.type === "plan") return { ...item, text };
    if (item.type === "commandExecution") return { ...item, aggregatedOutput: item.aggregatedOutput || text };
    return item;
  }
}
