import { z } from "zod";
import { hasMethods, isString } from "../check-value.ts";
import { PromptError } from "../errors.ts";
import type { Deadline } from "../limits/deadline.ts";
import type { PromptSession } from "../session/session.ts";
import { defineSlice, type Slice } from "../session/slice.ts";

/** Determines when a feedback provider runs. If it has several triggers, any one is enough. */
export type FeedbackTrigger =
  | { readonly everyCalls: number }
  /** Checked after each call, so the provider runs after the first call following the interval. */
  | { readonly everySeconds: number }
  /** Runs once, after the first call that finds the file. Relative to the thread's folder. */
  | { readonly fileCreated: string };

export interface FeedbackContext {
  readonly session: PromptSession;
  readonly deadline: Deadline | undefined;
  /** Number of tool calls in this evaluation so far. */
  readonly calls: number;
  /** The tool that was just called. */
  readonly tool: string;
}

/** Appends advice to tool results, so that the agent receives it without a new turn. */
export interface FeedbackProvider {
  readonly name: string;
  readonly triggers: readonly FeedbackTrigger[];
  /** Returns the advice, or undefined for none. */
  provide(context: FeedbackContext): string | undefined | Promise<string | undefined>;
}

/** @throws {PromptError} `invalid_definition` for a provider that could never run */
export function checkProvider(prompt: string, provider: FeedbackProvider): void {
  const what = `${prompt}: feedback provider "${provider.name}"`;
  if (!hasMethods(provider, "provide") || !Array.isArray(provider.triggers) || provider.triggers.length === 0)
    throw new PromptError("invalid_definition", `${what} needs a provide method and at least one trigger.`);
  for (const trigger of provider.triggers) {
    const [kind = "none", ...rest] = Object.keys(trigger);
    const value = (trigger as Readonly<Record<string, unknown>>)[kind];
    const isValid =
      kind === "everyCalls" || kind === "everySeconds"
        ? typeof value === "number" && value > 0
        : kind === "fileCreated" && isString(value);
    if (isValid && rest.length === 0) continue;
    throw new PromptError(
      "invalid_definition",
      `${what} has an invalid trigger ${JSON.stringify(trigger)}. Use { everyCalls: n }, { everySeconds: n } or { fileCreated: path }.`,
    );
  }
}

interface ProviderState {
  readonly calls: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly files: readonly string[];
}

type FeedbackState = Readonly<Record<string, ProviderState>>;

/** When each provider last ran. A log slice, so that the advice is not repeated after a failed tool call. */
const feedbackState: Slice<FeedbackState> = defineSlice<FeedbackState>({
  name: "feedback",
  kind: "log",
  initial: {},
  schema: z.record(z.string(), z.object({ calls: z.number(), at: z.number(), files: z.array(z.string()) })),
});

export interface FeedbackRun {
  readonly providers: readonly FeedbackProvider[];
  readonly context: FeedbackContext;
  readonly startedAt: number;
  readonly now: number;
  readonly fileExists: (path: string) => boolean;
  /** Receives provider failures, which never fail the tool call. */
  readonly onError: (provider: string, error: unknown) => void;
}

/** Runs all providers that are due and returns the text to append to the tool's result. */
export async function collectFeedback(run: FeedbackRun): Promise<string> {
  const parts: string[] = [];
  for (const provider of run.providers) {
    const text = await runProvider(provider, run);
    if (text !== undefined && text !== "") {
      parts.push(`<feedback provider="${provider.name}">\n${text}\n</feedback>`);
    }
  }
  return parts.join("\n");
}

async function runProvider(provider: FeedbackProvider, run: FeedbackRun): Promise<string | undefined> {
  const { session, calls } = run.context;
  const state = session.get(feedbackState)[provider.name] ?? { calls: 0, at: run.startedAt, files: [] };
  const created = newFiles(provider, state, run);
  if (created.length === 0 && !provider.triggers.some((trigger) => isDue(trigger, state, run)))
    return undefined;
  const files = [...state.files, ...created];
  session.update(feedbackState, (all) => ({ ...all, [provider.name]: { calls, at: run.now, files } }));
  try {
    return await provider.provide(run.context);
  } catch (error) {
    run.onError(provider.name, error);
    return undefined;
  }
}

function isDue(trigger: FeedbackTrigger, state: ProviderState, { context, now }: FeedbackRun): boolean {
  if ("everyCalls" in trigger) return context.calls - state.calls >= trigger.everyCalls;
  return "everySeconds" in trigger && now - state.at >= trigger.everySeconds * 1_000;
}

function newFiles(
  provider: FeedbackProvider,
  state: ProviderState,
  { fileExists }: FeedbackRun,
): readonly string[] {
  return provider.triggers.flatMap((trigger) =>
    "fileCreated" in trigger && !state.files.includes(trigger.fileCreated) && fileExists(trigger.fileCreated)
      ? [trigger.fileCreated]
      : [],
  );
}

/** Always gives the same advice. */
export function staticFeedback(
  name: string,
  text: string,
  ...triggers: readonly FeedbackTrigger[]
): FeedbackProvider {
  return { name, triggers, provide: () => text };
}

/** Tells the agent how much time is left. */
export function deadlineFeedback(...triggers: readonly FeedbackTrigger[]): FeedbackProvider {
  return {
    name: "deadline",
    triggers,
    provide: ({ deadline }) =>
      deadline &&
      `${Math.max(0, Math.round(deadline.remaining() / 1_000))} seconds are left until the deadline.`,
  };
}
