import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { callDigest, type CallEntry, type Entry, fileEntry, resultDigest, textEntry } from "./entry.ts";

/** What a step adds to a thread: new entries, and results for calls of earlier steps. */
export interface RecordedStep {
  readonly entries: readonly Entry[];
  readonly results: ReadonlyMap<string, string>;
}

/** Records the parts that the client receives as the entries that its next prompt will contain. */
export class StepRecorder {
  readonly #slots: (Entry | { readonly kind: "text"; readonly id: string })[] = [];
  readonly #texts = new Map<string, string>();
  readonly #open = new Set<string>();
  #isCut = false;
  readonly #results = new Map<string, string>();

  add(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case "text-start":
        if (this.#isCut) break;
        this.#texts.set(part.id, "");
        this.#open.add(part.id);
        this.#slots.push({ kind: "text", id: part.id });
        break;
      case "text-delta":
        if (this.#open.has(part.id)) this.#texts.set(part.id, this.text(part.id) + part.delta);
        break;
      case "text-end":
        this.#open.delete(part.id);
        break;
      case "file":
        this.#slots.push(fileEntry("assistant", part.data));
        break;
      case "tool-call":
        this.#addCall(part);
        break;
      case "tool-result":
        this.#results.set(part.toolCallId, resultDigest(part.result));
        break;
      default:
        break;
    }
  }

  /** Called when the turn was interrupted, because Codex then drops unfinished text from the thread. */
  dropOpenTexts(): void {
    for (const id of this.#open) this.#texts.delete(id);
    this.#open.clear();
    this.#isCut = true;
  }

  /** Returns a block's text so far. */
  text(id: string): string {
    return this.#texts.get(id) ?? "";
  }

  finish(): RecordedStep {
    const results = new Map(this.#results);
    const entries = this.#slots.flatMap((slot): Entry[] => {
      if (slot.kind === "text") {
        const text = this.#texts.get(slot.id);
        return text === undefined || text === "" ? [] : [textEntry("assistant", text)];
      }
      if (slot.kind !== "call") return [slot];
      const result = results.get(slot.callId);
      results.delete(slot.callId);
      return [{ ...slot, result }];
    });
    return { entries, results };
  }

  #addCall(part: Extract<LanguageModelV4StreamPart, { type: "tool-call" }>): void {
    const { toolCallId, toolName, input, providerExecuted } = part;
    if (this.#slots.some((slot) => slot.kind === "call" && slot.callId === toolCallId)) return;
    const call: CallEntry = {
      kind: "call",
      callId: toolCallId,
      digest: providerExecuted === true ? callDigest(toolName, JSON.parse(input)) : undefined,
      result: undefined,
    };
    this.#slots.push(call);
  }
}
