import { AsyncLocalStorage } from "node:async_hooks";
import { type OptionKeys, rejectUnknownOptions } from "codexkit";
import { SerialQueue } from "@codexkit/rpc/async";
import { z } from "zod";
import { PromptError } from "../errors.ts";
import { checkValue, isFunction, isString } from "../check-value.ts";
import { parseWith } from "../parse-with.ts";
import type { PromptSessionEvent } from "./session-event.ts";
import { type AnySlice, defineSlice, freezeState, type Slice } from "./slice.ts";

/** All dispatched events. A log slice, so it is not rolled back. */
export const eventLog: Slice<readonly PromptSessionEvent[]> = defineSlice<readonly PromptSessionEvent[]>({
  name: "events",
  kind: "log",
  initial: [],
  schema: z.array(
    z
      .object({ type: z.string(), payload: z.unknown().optional(), at: z.number() })
      // JSON has no undefined, so an event without a payload is stored without the key.
      .transform(({ type, payload, at }) => ({ type, payload, at })),
  ),
});

/** A change of one slice: a new state, or values appended to a list. */
export type SessionChange =
  | { readonly slice: string; readonly set: unknown }
  | { readonly slice: string; readonly append: readonly unknown[] };

/** Stores changes as they happen. */
export interface SessionBackend {
  append(change: SessionChange): void;
  /** Resolves when everything appended so far has been stored. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** All `state` slices at one point in time. */
export interface SessionCheckpoint {
  readonly states: ReadonlyMap<string, unknown>;
}

export interface SessionOptions {
  readonly id?: string;
  readonly slices?: readonly AnySlice[];
  readonly backend?: SessionBackend;
  /** Stored states by slice name. Each is validated when its slice is installed or first used. */
  readonly stored?: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

const KNOWN: OptionKeys<SessionOptions> = {
  id: true,
  slices: true,
  backend: true,
  stored: true,
  now: true,
};

const SNAPSHOT_VERSION = 1;

/** The session whose transaction the current code runs in. */
const currentTransaction = new AsyncLocalStorage<PromptSession>();

const snapshotSchema = z.object({
  version: z.number().int(),
  id: z.string(),
  slices: z.record(z.string(), z.unknown()),
});

/** An agent's memory: typed slices that are changed by updates and events and rolled back with failed tool calls. */
export class PromptSession implements AsyncDisposable {
  readonly id: string;
  readonly #slices = new Map<string, Slice<unknown>>();
  readonly #states = new Map<string, unknown>();
  readonly #stored: Map<string, unknown>;
  readonly #backend: SessionBackend | undefined;
  readonly #now: () => number;
  readonly #transactions = new SerialQueue();

  constructor(options: SessionOptions = {}) {
    rejectUnknownOptions("PromptSession", options, KNOWN);
    checkValue("PromptSession: id", options.id, "a string", isString);
    checkValue("PromptSession: slices", options.slices, "an array of slices", Array.isArray);
    checkValue("PromptSession: now", options.now, "a function", isFunction);
    this.id = options.id ?? crypto.randomUUID();
    this.#backend = options.backend;
    this.#now = options.now ?? Date.now;
    this.#stored = new Map(Object.entries(options.stored ?? {}));
    this.install(eventLog);
    for (const slice of options.slices ?? []) this.install(slice as Slice<unknown>);
  }

  /** Restores a session from the output of {@link PromptSession.toJSON}. */
  static fromJSON(json: unknown, options: Omit<SessionOptions, "id" | "stored"> = {}): PromptSession {
    const parsed = snapshotSchema.safeParse(typeof json === "string" ? parseJson(json) : json);
    if (!parsed.success) {
      throw new PromptError(
        "invalid_snapshot",
        `The value is not a session:\n${z.prettifyError(parsed.error)}`,
      );
    }
    const { version, id, slices } = parsed.data;
    if (version < 1 || version > SNAPSHOT_VERSION) {
      throw new PromptError(
        "invalid_snapshot",
        `The session has version ${version}; this package reads versions 1 to ${SNAPSHOT_VERSION}. Update @codexkit/prompts.`,
      );
    }
    return new PromptSession({ ...options, id, stored: slices });
  }

  /** Adds a slice, so that its reducers receive events from now on. No-op if it is already installed. */
  install<State>(slice: Slice<State>): void {
    const installed = this.#slices.get(slice.name);
    if (installed === (slice as unknown)) return;
    if (installed) {
      throw new PromptError(
        "invalid_definition",
        `The session already has another slice named "${slice.name}".`,
      );
    }
    this.#states.set(slice.name, this.#load(slice));
    this.#slices.set(slice.name, slice as unknown as Slice<unknown>);
  }

  get<State>(slice: Slice<State>): State {
    this.install(slice);
    return this.#states.get(slice.name) as State;
  }

  /** Replaces a state with the function's result. */
  update<State>(slice: Slice<State>, change: (state: State) => State): void {
    this.#set(slice as unknown as Slice<unknown>, change(this.get(slice)));
  }

  /** Resets a state to its initial value. */
  reset<State>(slice: Slice<State>): void {
    this.update(slice, () => slice.initial);
  }

  /** Records an event and runs the reducers of all slices. */
  dispatch(event: { readonly type: string; readonly payload: unknown }): void {
    const recorded: PromptSessionEvent = { ...event, at: this.#now() };
    this.update(eventLog, (events) => [...events, recorded]);
    for (const slice of this.#slices.values()) {
      for (const reducer of slice.reducers) {
        if (reducer.event === event.type) {
          this.#set(slice, reducer.reduce(this.#states.get(slice.name), recorded));
        }
      }
    }
  }

  /** Returns the events of one type, oldest first. */
  eventsOf<Payload>(event: { readonly type: string; (payload: Payload): unknown }): readonly Payload[] {
    return this.get(eventLog)
      .filter(({ type }) => type === event.type)
      .map(({ payload }) => payload as Payload);
  }

  /** Saves all `state` slices. Cheap, because states are never changed in place. */
  checkpoint(): SessionCheckpoint {
    const states = new Map<string, unknown>();
    for (const [name, { kind }] of this.#slices)
      if (kind === "state") states.set(name, this.#states.get(name));
    return { states };
  }

  /** Restores a checkpoint. Slices installed since then are reset to their initial state; logs keep everything. */
  rollback({ states }: SessionCheckpoint): void {
    for (const slice of this.#slices.values()) {
      if (slice.kind === "state") {
        this.#set(slice, states.has(slice.name) ? states.get(slice.name) : slice.initial);
      }
    }
  }

  /** Runs a task as a transaction. A session runs one transaction at a time, so that a rollback undoes only its own changes. */
  async transact<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.isInTransaction) {
      throw new PromptError(
        "invalid_option",
        "A transaction can't start inside another one of the same session, because it would wait for itself. Tool handlers already run in one.",
      );
    }
    return this.#transactions.run(() => currentTransaction.run(this, task));
  }

  /** Whether the calling code runs inside a transaction of this session, so that it must not wait for another one. */
  get isInTransaction(): boolean {
    return currentTransaction.getStore() === this;
  }

  /** Returns the whole session as JSON, including slices that were stored but not used. */
  toJSON(): {
    readonly version: number;
    readonly id: string;
    readonly slices: Readonly<Record<string, unknown>>;
  } {
    return {
      version: SNAPSHOT_VERSION,
      id: this.id,
      slices: { ...Object.fromEntries(this.#stored), ...Object.fromEntries(this.#states) },
    };
  }

  /** Resolves when the backend has stored all changes so far. */
  async flush(): Promise<void> {
    await this.#backend?.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#backend?.close();
  }

  #load<State>(slice: Slice<State>): State {
    if (!this.#stored.has(slice.name)) return slice.initial;
    const parsed = parseWith(slice.schema, this.#stored.get(slice.name));
    if ("problem" in parsed) {
      throw new PromptError(
        "invalid_snapshot",
        `The stored state of slice "${slice.name}" does not match its schema:
${parsed.problem}`,
      );
    }
    this.#stored.delete(slice.name);
    return freezeState(parsed.value);
  }

  #set(slice: Slice<unknown>, state: unknown): void {
    const previous = this.#states.get(slice.name);
    if (state === previous) return;
    this.#states.set(slice.name, slice.kind === "state" ? freezeState(state) : state);
    this.#backend?.append(toChange(slice.name, previous, state));
  }
}

/** For a list that only grew, stores just the new values, so that the cost does not depend on the log's length. */
function toChange(slice: string, previous: unknown, state: unknown): SessionChange {
  if (!Array.isArray(previous) || !Array.isArray(state) || state.length <= previous.length) {
    return { slice, set: state };
  }
  const at = previous.length;
  const isExtension = previous.every((value, index) => value === state[index]);
  return isExtension ? { slice, append: state.slice(at) } : { slice, set: state };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PromptError("invalid_snapshot", "The session is not JSON.", { cause });
  }
}
