import type { AsksPermission } from "@codexkit/provider/acp";

/** The folders of one agent run. The agent writes only to these. */
export interface AgentFolders {
  readonly home: string;
}

/** How to start an agent with a fake model endpoint. */
export interface AgentSetup extends AsyncDisposable {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Number of model calls so far. */
  readonly modelCalls: () => number;
}

/** A behaviour of the agent itself that makes checks fail. The adapter can't change it. */
export interface AgentBehaviour {
  /** Matches the reasons of the failed checks. */
  readonly failure: RegExp;
  readonly explanation: string;
}

/** A real ACP agent from the npm registry. */
export interface AgentDefinition {
  /** Its name in the report and on the command line. */
  readonly name: string;
  /** The npm package, pinned in `agents/package.json`. */
  readonly package: string;
  /** The API of its fake model. */
  readonly api: string;
  /** The parts of its configuration that matter for the report. */
  readonly configuration: string;
  /** A remark for the report. */
  readonly note?: string | undefined;
  readonly behaviours?: readonly AgentBehaviour[] | undefined;
  /** The session mode. Set if the default mode never asks for permission. */
  readonly mode?: string | undefined;
  readonly asksPermission?: AsksPermission | undefined;
  /** A model that its sessions offer, to check that `model` is honoured. */
  readonly sampleModel?: string | undefined;
  /** A mode that its sessions offer. */
  readonly sampleMode: string;
  readonly setUp: (folders: AgentFolders) => Promise<AgentSetup>;
}
