import { CodexError, type InputPart } from "codexkit";
import type { Call } from "../model/read-call.ts";
import type { ReadPrompt } from "../prompt/read-prompt.ts";
import type { Session } from "./session.ts";

/** Gives a turn that waits what the person adds to its answers. False for a turn that is over, which takes nothing more. */
export async function addInput({ thread }: Session, { prompt, callOptions }: Call): Promise<boolean> {
  const input = [...reasons(prompt), ...prompt.input];
  if (input.length === 0) return true;
  try {
    await thread.steer(input, callOptions);
    return true;
  } catch (error) {
    if (error instanceof CodexError && error.code === "turn_not_active") return false;
    throw error;
  }
}

/** A refusal of Codex's has no place for its reason: the model is told of it as the person's words. */
function reasons({ approvals }: ReadPrompt): InputPart[] {
  return approvals.flatMap(({ approved, reason }) =>
    approved || reason === undefined || reason === "" ? [] : [{ text: `I declined that: ${reason}` }],
  );
}
