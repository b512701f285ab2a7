import type { AcpProvider } from "../src/acp/index.ts";
import type { AgentEvent, AgentHandle, AgentSpec } from "../src/index.ts";

const cwd = process.cwd();

/** Runs a session to its end and returns its events. */
export async function runSession(
  provider: AcpProvider,
  spec: Partial<AgentSpec>,
): Promise<readonly AgentEvent[]> {
  await using handle = await provider.spawn({ prompt: "say nothing", cwd, ...spec });
  return await Array.fromAsync(handle.events);
}

/** Starts a session, which by default runs until it is stopped. */
export async function startSession(provider: AcpProvider, prompt = "work"): Promise<AgentHandle> {
  return provider.spawn({ prompt, cwd });
}

export function textOf(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.kind === "assistant_text" ? event.text : "")).join("");
}

export async function lastEventOf(handle: AgentHandle): Promise<AgentEvent | undefined> {
  return (await Array.fromAsync(handle.events)).at(-1);
}
