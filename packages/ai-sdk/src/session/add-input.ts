import { CodexError, type InputPart } from "codexkit";
import type { Call } from "../call/read-call.ts";
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

/** Codex's protocol has no field for the reason of a refusal: it is added as input of the user. */
function reasons({ approvals }: ReadPrompt): InputPart[] {
  return approvals.flatMap(({ approved, reason }) =>
    approved || reason === undefined || reason === "" ? [] : [{ text: `I declined that: ${reason}` }],
  );
}
