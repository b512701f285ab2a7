import type { AsksPermission } from "@codexkit/provider/acp";

/** Folders of one run of one agent; the agent writes nowhere else. */
export interface AgentFolders {
  readonly home: string;
}

/** How an agent is started on a fake model endpoint. */
export interface AgentSetup extends AsyncDisposable {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How often the model was called so far. */
  readonly modelCalls: () => number;
}

/** A real ACP agent from the npm registry. */
export interface AgentDefinition {
  /** Its name in the report and on the command line. */
  readonly name: string;
  /** The npm package, pinned in `agents/package.json`. */
  readonly package: string;
  /** The API that its fake model speaks. */
  readonly api: string;
  /** How it is configured here, as far as that matters to the report. */
  readonly configuration: string;
  /** Why it behaves as it does, where that was looked into. */
  readonly note?: string | undefined;
  /** The mode of its sessions, where its default mode never asks for permission. */
  readonly mode?: string | undefined;
  readonly asksPermission?: AsksPermission | undefined;
  /** A model that its sessions offer, to prove that `model` is honoured. */
  readonly sampleModel?: string | undefined;
  /** A mode that its sessions offer. */
  readonly sampleMode: string;
  readonly setUp: (folders: AgentFolders) => Promise<AgentSetup>;
}
