import type { v2 } from "@codexkit/protocol";
import { CodexError } from "../errors.ts";
import type { OptionKeys } from "../options/reject-unknown-options.ts";
import type { OutputSchema, OutputSchemaInput } from "../schema/json-output-schema.ts";

/** What to do with input while a turn is running. The server would silently add it to that turn. */
export type WhenBusy =
  /** Reject with `thread_busy`. */
  | "reject"
  /** Add the input to the running turn, which keeps its settings: no others can be passed. */
  | "steer"
  /**
   * Add the input to Codex's own queue, which runs it later with the thread's settings, even if this program has
   * ended. Codex pauses its queue after an interrupt; it is restarted while a turn of this client is queued.
   */
  | "queue"
  /** Wait in this program until the thread is idle. */
  | "wait";

const WHEN_BUSY: Readonly<Record<WhenBusy, true>> = { reject: true, steer: true, queue: true, wait: true };

/** Throws `invalid_argument` for an invalid value from an untyped program. */
export function checkWhenBusy(value: string): void {
  if (Object.hasOwn(WHEN_BUSY, value)) return;
  const valid = Object.keys(WHEN_BUSY).join(", ");
  throw new CodexError(
    "invalid_argument",
    `run: unknown whenBusy ${JSON.stringify(value)}. Valid values: ${valid}.`,
  );
}

/** Everything that `turn/start` accepts for one turn, and options of the SDK. */
export interface RunOptions<Output = undefined> extends Omit<
  v2.TurnStartParams,
  "threadId" | "input" | "outputSchema" | "clientUserMessageId"
> {
  /**
   * Your ID of this message. Codex repeats it as `clientId` of the turn's `userMessage` item. Default: a random one.
   */
  readonly clientUserMessageId?: string;
  /** Schema of the final message: a zod schema or JSON Schema. `structured` has the typed result. */
  readonly outputSchema?: OutputSchema<Output> | OutputSchemaInput<Output>;
  /** Interrupts the turn when it aborts. */
  readonly signal?: AbortSignal;
  /** What to do while a turn is running. Default: `"reject"`. */
  readonly whenBusy?: WhenBusy;
}

export const RUN: OptionKeys<RunOptions<unknown>> = {
  outputSchema: true,
  signal: true,
  whenBusy: true,
  disabledPluginIds: true,
  clientUserMessageId: true,
  turnTrigger: true,
  parentTurnId: true,
  rootTurnId: true,
  toolOutput: true,
  responsesapiClientMetadata: true,
  responsesapiClientMetadataPatch: true,
  additionalContext: true,
  environments: true,
  cwd: true,
  runtimeWorkspaceRoots: true,
  approvalPolicy: true,
  approvalsReviewer: true,
  sandboxPolicy: true,
  permissions: true,
  model: true,
  serviceTier: true,
  serviceTierForTurn: true,
  effort: true,
  summary: true,
  personality: true,
  collaborationMode: true,
  multiAgentMode: true,
  cyberAccessProgram: true,
};
