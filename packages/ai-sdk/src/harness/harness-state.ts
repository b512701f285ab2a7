import type { HarnessV1ContinueTurnState, HarnessV1ResumeSessionState } from "@ai-sdk/harness";
import { z } from "zod";
import { stepRequestsSchema } from "./step-requests.ts";

export const HARNESS_ID = "codex";

/** The stored state of a session: its thread, and the requests that its turn was waiting for. */
export const stateSchema = z.object({
  threadId: z.string().optional(),
  requests: stepRequestsSchema.optional(),
});

export type HarnessState = z.infer<typeof stateSchema>;

const base = { harnessId: HARNESS_ID, specificationVersion: "harness-v1" } as const;

export function resumeState({ threadId }: HarnessState): HarnessV1ResumeSessionState {
  return { type: "resume-session", ...base, data: toJson({ threadId }) };
}

export function continueState(state: HarnessState): HarnessV1ContinueTurnState {
  return { type: "continue-turn", ...base, data: toJson(state) };
}

export function readState(data: unknown): HarnessState {
  return stateSchema.parse(data ?? {});
}

/** Drops undefined members, because JSON has none. */
function toJson(state: HarnessState): HarnessV1ResumeSessionState["data"] {
  return JSON.parse(JSON.stringify(state)) as HarnessV1ResumeSessionState["data"];
}
