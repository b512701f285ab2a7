import type { CallEntry, Entry } from "./entry.ts";
import type { RecordedStep } from "./step-recorder.ts";

interface TurnEnd {
  readonly turnId: string;
  /** Number of the thread's entries at that point. */
  readonly length: number;
}

/** How a prompt relates to a thread. */
export type Comparison =
  /** The thread has exactly these messages. */
  | { readonly type: "same" }
  /** The thread has these messages and later ones, because an answer was removed or another call continued first. */
  | { readonly type: "behind"; readonly lastTurnId: string | undefined }
  /** The thread has different messages. `lastTurnId` is the last turn through which it matches the prompt, if any. */
  | { readonly type: "changed"; readonly lastTurnId: string | undefined; readonly common: number };

/**
 * A thread's content, in the form of the prompts that led to it. A prompt may continue in the thread only if the two match.
 * Otherwise, the model would see messages that the caller has redacted, edited or dropped.
 */
export class Transcript {
  #entries: readonly Entry[];
  /**
   * The messages of a call that named its thread, which may be only the newest ones. A prompt that continues from them also
   * matches the thread.
   */
  #named: readonly Entry[] | undefined;
  #turnEnds: readonly TurnEnd[];

  constructor(entries: readonly Entry[] = [], turnEnds: readonly TurnEnd[] = []) {
    this.#entries = entries;
    this.#turnEnds = turnEnds;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** @param prefix A prompt's entries without its new input. */
  compare(prefix: readonly Entry[]): Comparison {
    if (this.#named !== undefined && isSame(this.#named, prefix)) return { type: "same" };
    if (isSame(this.#entries, prefix)) return { type: "same" };
    const common = commonLength(this.#entries, prefix);
    const end = this.#turnEnds.findLast(({ length }) => length <= common);
    return common === prefix.length
      ? { type: "behind", lastTurnId: end?.length === common ? end.turnId : undefined }
      : { type: "changed", lastTurnId: end?.turnId, common: end?.length ?? 0 };
  }

  /** Returns the transcript through one of its turns. */
  through(lastTurnId: string): Transcript {
    const at = this.#turnEnds.findIndex(({ turnId }) => turnId === lastTurnId);
    const ends = this.#turnEnds.slice(0, at + 1);
    return new Transcript(this.#entries.slice(0, ends.at(-1)?.length ?? 0), ends);
  }

  /** Called when a step starts with a prompt that matches the thread. */
  continueWith(prompt: readonly Entry[]): void {
    this.#entries = prompt;
    this.#named = undefined;
  }

  /**
   * Called when a step starts on a thread that the caller named, regardless of its messages.
   * @param input The prompt's entries that the thread did not have.
   */
  appendNamed(prompt: readonly Entry[], input: readonly Entry[]): void {
    this.#entries = [...this.#entries, ...input];
    this.#named = prompt;
  }

  /** Adds a step's output. */
  record(step: RecordedStep): void {
    this.#entries = withStep(this.#entries, step);
    if (this.#named !== undefined) this.#named = withStep(this.#named, step);
  }

  /** Called when a turn has completed. The thread can be copied up to this point. */
  endTurn(turnId: string): void {
    this.#turnEnds = [...this.#turnEnds, { turnId, length: this.#entries.length }];
  }
}

/** Applies a step. If it repeats a call before a late result, only the call's first position counts. */
function withStep(before: readonly Entry[], { entries, results }: RecordedStep): Entry[] {
  const known = new Set(before.flatMap((entry) => (entry.kind === "call" ? [entry.callId] : [])));
  const isRepeated = (entry: Entry): entry is CallEntry => entry.kind === "call" && known.has(entry.callId);
  const late = new Map(results);
  for (const { callId, result } of entries.filter(isRepeated)) {
    if (result !== undefined) late.set(callId, result);
  }
  return [
    ...before.map((entry) => withResult(entry, late)),
    ...entries.filter((entry) => !isRepeated(entry)),
  ];
}

function withResult(entry: Entry, results: ReadonlyMap<string, string>): Entry {
  const result = entry.kind === "call" ? results.get(entry.callId) : undefined;
  return result === undefined || entry.kind !== "call" ? entry : { ...entry, result };
}

function isSame(seen: readonly Entry[], prompt: readonly Entry[]): boolean {
  return seen.length === prompt.length && commonLength(seen, prompt) === seen.length;
}

function commonLength(seen: readonly Entry[], prompt: readonly Entry[]): number {
  const length = Math.min(seen.length, prompt.length);
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [seen[at], prompt[at]];
    if (one === undefined || other === undefined || !agrees(one, other)) return at;
  }
  return length;
}

function agrees(seen: Entry, prompt: Entry): boolean {
  if (seen.kind !== "call" || prompt.kind !== "call") {
    return seen.kind === prompt.kind && seen.digest === prompt.digest;
  }
  return (
    seen.callId === prompt.callId &&
    (seen.digest === undefined || seen.digest === prompt.digest) &&
    hasSameResult(seen, prompt)
  );
}

function hasSameResult(seen: CallEntry, prompt: CallEntry): boolean {
  return seen.result === undefined || prompt.isDenied === true || seen.result === prompt.result;
}
