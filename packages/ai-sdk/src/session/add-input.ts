import { CodexError, type InputPart } from "codexkit";
import { declineInput } from "../approval/explain-decline.ts";
import type { Call } from "../call/read-call.ts";
import type { ReadPrompt } from "../prompt/read-prompt.ts";
import type { Session } from "./session.ts";

/** Sends new input and the reasons for declined approvals to a waiting turn. Returns false if the turn has ended. */
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

function reasons({ approvals }: ReadPrompt): InputPart[] {
  return approvals.flatMap(({ approved, reason }) =>
    approved || reason === undefined || reason === "" ? [] : [declineInput(reason)],
  );
}
