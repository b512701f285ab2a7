import type { v2 } from "@codexkit/protocol";
import { CodexError } from "../errors.ts";
import type { OptionKeys } from "../options/reject-unknown-options.ts";
import type { OutputSchema, OutputSchemaInput } from "../schema/output-schema.ts";

/**
 * What to do with input when a turn runs already. The server would add it to that turn without a word; here it is a choice.
 */
export type WhenBusy =
  /** Refuse, with `thread_busy`. */
  | "reject"
  /** Add the input to the turn that runs, which keeps its settings: others can't be given. */
  | "steer"
  /**
   * Leave the input in Codex's own queue, which runs it later, with the thread's settings, even when this program is gone.
   * Codex pauses its queue after an interrupt; it is started again while a turn of this client waits in it.
   */
  | "queue"
  /** Wait here until the thread is free. */
  | "wait";

const WHEN_BUSY: Readonly<Record<WhenBusy, true>> = { reject: true, steer: true, queue: true, wait: true };

/** Throws `invalid_argument` for a value that programs without types may pass. */
export function checkWhenBusy(value: string): void {
  if (Object.hasOwn(WHEN_BUSY, value)) return;
  const valid = Object.keys(WHEN_BUSY).join(", ");
  throw new CodexError(
    "invalid_argument",
    `run: whenBusy is ${JSON.stringify(value)}. Valid values: ${valid}.`,
  );
}

/** Everything that `turn/start` takes for one turn, and how this side handles it. */
export interface RunOptions<Output = undefined> extends Omit<
  v2.TurnStartParams,
  "threadId" | "input" | "outputSchema" | "clientUserMessageId"
> {
  /** Your id for this message. Codex repeats it as `clientId` of the turn's `userMessage` item. Default: a random one. */
  readonly clientUserMessageId?: string;
  /** What the final message must look like: a zod schema or JSON Schema. The result is in `structured`, typed. */
  readonly outputSchema?: OutputSchema<Output> | OutputSchemaInput<Output>;
  /** Interrupts the turn. */
  readonly signal?: AbortSignal;
  /** What to do when a turn runs already. Default `"reject"`. */
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
