import { createSignal, getListener, type Signal } from "solid-js";
import { type ItemRecord, textOf } from "./item-record.ts";
import type { TranscriptItem } from "./types.ts";

/**
 * The reactive view of an item record. It has signals only while a mounted component reads it: one for the state, and one for the
 * text, which changes far more often.
 */
export class ReactiveItem implements TranscriptItem {
  readonly type = "item";
  readonly #record: ItemRecord;
  #state: Signal<unknown> | undefined;
  #text: Signal<unknown> | undefined;

  constructor(record: ItemRecord) {
    this.#record = record;
  }

  get key() {
    return this.#record.key;
  }
  get id() {
    return this.#record.id;
  }
  get threadId() {
    return this.#record.threadId;
  }
  get turnId() {
    return this.#record.turnId;
  }
  get kind() {
    return this.#record.kind;
  }
  get firstSeq() {
    return this.#record.firstSeq;
  }
  get lastSeq() {
    return this.#readState().lastSeq;
  }
  get status() {
    return this.#readState().status;
  }
  get item() {
    return this.#readState().item;
  }
  get truncated() {
    return this.#readState().truncated;
  }
  get wasRecovered() {
    return this.#readState().wasRecovered;
  }
  get wasMerged() {
    return this.#readText().wasMerged;
  }
  get text() {
    return textOf(this.#readText());
  }

  notifyState(): void {
    this.#state?.[1](undefined);
    this.#text?.[1](undefined);
  }

  notifyText(): void {
    this.#text?.[1](undefined);
  }

  #readState(): ItemRecord {
    if (getListener()) {
      this.#state ??= createSignal<unknown>(undefined, { equals: false });
      this.#state[0]();
    }
    return this.#record;
  }

  #readText(): ItemRecord {
    if (getListener()) {
      this.#text ??= createSignal<unknown>(undefined, { equals: false });
      this.#text[0]();
    }
    return this.#record;
  }
}
