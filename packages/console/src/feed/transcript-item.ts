import { createSignal, getListener, type Signal } from "solid-js";
import { type ItemRecord, textOf } from "./item-record.ts";
import type { TranscriptItem } from "./types.ts";

/** The reactive face of an item record. It has a signal only while something on screen reads it. */
export class ReactiveItem implements TranscriptItem {
  readonly type = "item";
  readonly #record: ItemRecord;
  #signal: Signal<unknown> | undefined;

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
    return this.#read().lastSeq;
  }
  get status() {
    return this.#read().status;
  }
  get item() {
    return this.#read().item;
  }
  get truncated() {
    return this.#read().truncated;
  }
  get text() {
    return textOf(this.#read());
  }
  get wasMerged() {
    return this.#read().wasMerged;
  }
  get wasRecovered() {
    return this.#read().wasRecovered;
  }

  /** Runs the readers of this item again. */
  notify(): void {
    this.#signal?.[1](undefined);
  }

  #read(): ItemRecord {
    if (getListener()) {
      this.#signal ??= createSignal<unknown>(undefined, { equals: false });
      this.#signal[0]();
    }
    return this.#record;
  }
}
