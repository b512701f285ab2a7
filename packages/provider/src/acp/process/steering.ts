import type { ClientContext, InitializeResponse } from "@agentclientprotocol/sdk";
import { z } from "zod";

/** The extension of ACP for messages to a running turn, as codex-acp and claude-agent-acp implement it. */
const METHOD = "_session/steering";

const advertised = z.looseObject({ steering: z.looseObject({ supported: z.literal(true) }) });
const answer = z.looseObject({ outcome: z.string() });

export function supportsSteering({ _meta }: InitializeResponse): boolean {
  return advertised.safeParse(_meta).success;
}

/** Gives a message to the running turn. False if there is none, in which case the agent has not kept the message. */
export async function steerSession(agent: ClientContext, sessionId: string, text: string): Promise<boolean> {
  const response = await agent.request(METHOD, {
    sessionId,
    prompt: [{ type: "text", text }],
    // Without it the agent would start a turn of its own, whose end nobody is told.
    _meta: { steering: { idleBehavior: "promptRequired" } },
  });
  const { outcome } = answer.parse(response);
  if (outcome === "injected") return true;
  if (outcome === "promptRequired") return false;
  throw new Error(
    `expected the outcome "injected" or "promptRequired" of ${METHOD}, and received "${outcome}"`,
  );
}
