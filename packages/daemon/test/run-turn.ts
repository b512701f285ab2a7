import { expect } from "vitest";
import type { DaemonClient } from "../src/client/client.ts";

/** Sends a message, and waits for the end of its turn. Resolves to the final response. Rejects if the turn fails. */
export async function runTurn(client: DaemonClient, sessionId: string, input: string): Promise<string> {
  const { lastSeq } = await client.request("GET /sessions/{sessionId}", { params: { sessionId } });
  const sent = await client.send(sessionId, input, { wait: 20_000 });
  expect(sent.problem).toBeNull();
  const signal = AbortSignal.timeout(100_000);
  for await (const event of client.sessionEvents(sessionId, { after: lastSeq, signal })) {
    if (event.type === "turn.completed") return event.result.finalResponse ?? "";
    if (event.type === "turn.failed") throw new Error(event.problem.detail);
  }
  throw new Error("The turn did not end.");
}
