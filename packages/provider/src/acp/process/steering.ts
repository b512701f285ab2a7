import type { ClientContext, InitializeResponse } from "@agentclientprotocol/sdk";
import { z } from "zod";

/** The extension of ACP for messages to a running turn, as codex-acp and claude-agent-acp implement it. */
const METHOD = "_session/steering";

const advertised = z.looseObject({ steering: z.looseObject({ supported: z.literal(true) }) });
const answer = z.looseObject({ outcome: z.string() });

export function supportsSteering({ _meta }: InitializeResponse): boolean {
  return advertised.safeParse(_meta).success;
}

/** Sends a message to the running turn. Returns false if no turn is running; the agent then discards the message. */
export async function steerSession(agent: ClientContext, sessionId: string, text: string): Promise<boolean> {
  const response = await agent.request(METHOD, {
    sessionId,
    prompt: [{ type: "text", text }],
    // Otherwise the agent would start a separate turn and not report its end.
    _meta: { steering: { idleBehavior: "promptRequired" } },
  });
  const { outcome } = answer.parse(response);
  if (outcome === "injected") return true;
  if (outcome === "promptRequired") return false;
  throw new Error(
    `Expected ${METHOD} to return the outcome "injected" or "promptRequired", but received "${outcome}".`,
  );
}
