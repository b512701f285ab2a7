// A Codex provider on the real codex and a scripted model, and helpers for its sessions.
import type { ScriptedModel } from "@codexkit/scripted-model";
import { codexFolders, type ModelOptions } from "@codexkit/testing";
import { CodexProvider, type CodexProviderOptions } from "../src/codex/codex-provider.ts";
import type { AgentEvent, TerminalEvent } from "../src/contract/agent-event.ts";
import type { AgentHandle } from "../src/contract/agent-provider.ts";
import type { AgentSpec } from "../src/contract/agent-spec.ts";

export interface CodexFixture extends AsyncDisposable {
  readonly provider: CodexProvider;
  readonly model: ScriptedModel;
  readonly workspace: string;
  /** For another provider on the same home. */
  readonly options: CodexProviderOptions;
  /** A spec for the workspace. Without a sandbox by default, because Codex takes half a second to set one up. */
  readonly spec: (prompt: string, more?: Partial<AgentSpec>) => AgentSpec;
  /** Spawns a session and reads it to its end. */
  readonly run: (prompt: string, more?: Partial<AgentSpec>) => Promise<Transcript>;
}

export interface Transcript {
  readonly sessionId: string;
  readonly events: readonly AgentEvent[];
  readonly end: TerminalEvent;
}

export async function codexFixture(
  script: ModelOptions["model"],
  { modelName, ...more }: CodexProviderOptions & Pick<ModelOptions, "modelName"> = {},
): Promise<CodexFixture> {
  await using made = new AsyncDisposableStack();
  const named = modelName === undefined ? {} : { modelName };
  const folders = made.use(await codexFolders({ model: script, modelRetries: 0, ...named }));
  const options = { env: folders.env, inheritEnv: false, ...more };
  const provider = made.use(await CodexProvider.create(options));
  const owner = made.move();
  const { model, workspace } = folders;
  const spec: CodexFixture["spec"] = (prompt, fields) => ({
    prompt,
    cwd: workspace,
    sandboxEnabled: false,
    ...fields,
  });
  return {
    provider,
    model,
    workspace,
    options,
    spec,
    run: async (prompt, fields) => read(await provider.spawn(spec(prompt, fields))),
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** Reads a session to its end. */
export async function read(handle: AgentHandle): Promise<Transcript> {
  const events = await Array.fromAsync(handle.events);
  const end = events.at(-1);
  if (end?.kind !== "result" && end?.kind !== "error") throw new Error(`no end: ${JSON.stringify(end)}`);
  return { sessionId: handle.sessionId, events, end };
}

/** The events of one kind. */
export function ofKind<Kind extends AgentEvent["kind"]>(
  { events }: Pick<Transcript, "events">,
  kind: Kind,
): Extract<AgentEvent, { kind: Kind }>[] {
  return events.filter((event): event is Extract<AgentEvent, { kind: Kind }> => event.kind === kind);
}

/** The text of all agents, joined. */
export function words(transcript: Pick<Transcript, "events">): string {
  return ofKind(transcript, "assistant_text")
    .map(({ text }) => text)
    .join("");
}
