import { type OptionKeys, rejectUnknownOptions, type StandardSchema } from "codexkit";
import { checkValue } from "../check-value.ts";
import { PromptError } from "../errors.ts";
import { parseWith } from "../parse-with.ts";
import type { EventDefinition, PromptSessionEvent } from "./session-event.ts";

/** Updates a slice when an event is dispatched. */
export interface Reducer<State> {
  readonly event: string;
  readonly reduce: (state: State, event: PromptSessionEvent) => State;
}

/** Pairs an event with the function that updates a slice. */
export function on<State, Payload>(
  event: EventDefinition<Payload>,
  reduce: (state: State, payload: Payload) => State,
): Reducer<State> {
  return { event: event.type, reduce: (state, { payload }) => reduce(state, payload as Payload) };
}

/**
 * A typed part of a session. States are replaced, never changed in place, which makes rollbacks cheap. They are frozen, so code
 * that changes one in place throws.
 */
export interface Slice<State> {
  readonly name: string;
  /** `state` is rolled back with a failed tool call; `log` records what happened and is never rolled back. */
  readonly kind: "state" | "log";
  readonly initial: State;
  readonly schema: StandardSchema<State>;
  readonly reducers: readonly Reducer<State>[];
}

/** A slice with its state type erased. */
export interface AnySlice extends Omit<Slice<unknown>, "reducers"> {
  readonly reducers: readonly {
    readonly event: string;
    readonly reduce: (state: never, event: PromptSessionEvent) => unknown;
  }[];
}

export interface SliceOptions<State> {
  readonly name: string;
  /** Default: "state". */
  readonly kind?: "state" | "log";
  readonly initial: State;
  /** Validates the state when a session is loaded. Its values must be JSON. */
  readonly schema: StandardSchema<State>;
  readonly reducers?: readonly Reducer<State>[];
}

const KNOWN: OptionKeys<SliceOptions<never>> = {
  name: true,
  kind: true,
  initial: true,
  schema: true,
  reducers: true,
};

/**
 * Defines a slice.
 *
 * @example
 * const findings = defineSlice({ name: "findings", schema: z.array(z.string()), initial: [] });
 * session.update(findings, (all) => [...all, "unchecked input"]);
 */
export function defineSlice<State>(options: SliceOptions<State>): Slice<State> {
  rejectUnknownOptions("defineSlice", options, KNOWN as OptionKeys<SliceOptions<State>>);
  const { name, kind, schema } = options;
  if (typeof name !== "string" || name === "" || name === "__proto__")
    throw new PromptError("invalid_definition", "A slice needs a name other than __proto__.");
  const isKind = (value: unknown): boolean => value === "state" || value === "log";
  checkValue(`Slice "${name}": kind`, kind, '"state" or "log"', isKind, "invalid_definition");
  if (typeof schema !== "object" || !("~standard" in schema))
    throw new PromptError(
      "invalid_definition",
      `Slice "${name}" needs a schema, such as z.array(z.string()).`,
    );
  const parsed = parseWith(schema, options.initial);
  if ("problem" in parsed) {
    throw new PromptError(
      "invalid_definition",
      `Slice "${name}": initial does not match the schema, so a stored session could not be read:\n${parsed.problem}`,
    );
  }
  return { kind: "state", reducers: [], ...options, initial: freezeState(options.initial) };
}

/**
 * Deeply freezes a JSON state. Skips parts that are already frozen, so that the cost is proportional to the state's new parts.
 */
export function freezeState<State>(state: State): State {
  if (typeof state !== "object" || state === null || Object.isFrozen(state)) return state;
  if (!Array.isArray(state) && !isPlainObject(state)) return state;
  Object.freeze(state);
  for (const value of Object.values(state)) freezeState<unknown>(value);
  return state;
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
