import { inSession, type SessionContext } from "../turns/in-session.ts";
import { checkResponse } from "../turns/script.ts";
import { daemon } from "./daemon-contender.ts";

const READERS = 1_000;
export const TURNS = 20;

/**
 * Counts the readers of one session that got every event of 20 turns, and measures the time until the last
 * one had them.
 */
export function readTogether(
  sessionContext: SessionContext,
): Promise<{ readonly completed: number; readonly time: number }> {
  return inSession(daemon, sessionContext, async ({ client, url, workspace }) => {
    const { session } = await client.createSession(
      { cwd: workspace, permissionMode: "read-only", approvalPolicy: "never" },
      { wait: 60_000 },
    );
    const begin = performance.now();
    const readers = Array.from({ length: READERS }, () => readTurns(`${url}/sessions/${session.id}/events`));
    for (let turn = 0; turn < TURNS; turn += 1) await client.send(session.id, "answer");
    const texts = await Promise.all(readers);
    for (const text of texts) checkResponse("answer", text);
    return { completed: texts.length, time: performance.now() - begin };
  });
}

/**
 * Reads a plain SSE request up to the text of the last turn: with a thousand parsers, the parsing would be
 * measured.
 */
export async function readTurns(url: string): Promise<string> {
  const response = await fetch(url, { headers: { accept: "text/event-stream" } });
  let unread = "";
  let text = "";
  let turns = 0;
  let seq = 0;
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const blocks = (unread + chunk).split("\n\n");
    unread = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block.split("\n").find((line) => line.startsWith("data: "));
      if (data === undefined) continue;
      const event = JSON.parse(data.slice("data: ".length)) as { seq: number; type: string; delta?: string };
      seq += 1;
      if (event.seq !== seq) throw new Error(`Event ${event.seq} came after ${seq - 1}.`);
      if (event.type === "turn.started") text = "";
      if (event.type === "item.delta") text += event.delta ?? "";
      if (event.type === "turn.completed") turns += 1;
      if (turns === TURNS) return text;
    }
  }
  throw new Error("The stream ended before the last turn.");
}
