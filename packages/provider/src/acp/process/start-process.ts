import {
  ManifestFile,
  newMark,
  OwnedProcess,
  ownersFolder,
  type ProcessLimits,
  spawnCommand,
  sweepOrphans,
} from "codexkit/process";

/** The command line of an agent that speaks ACP on its stdio. */
export interface AcpCommand {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Variables for the agent besides this process's own; undefined takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where the agent itself runs; each session has a folder of its own. */
  readonly cwd?: string | undefined;
  /** Hears every line that the agent writes to its stderr. */
  readonly onStderr?: ((line: string) => void) | undefined;
  /** How long the process may take to leave. */
  readonly processLimits?: Partial<ProcessLimits> | undefined;
}

/** Starts an agent that does not outlive this program. What could not be started says so in its `startError`. */
export async function startProcess(agent: AcpCommand): Promise<OwnedProcess> {
  await sweepOrphans();
  const mark = newMark();
  const { command, args, windowsVerbatimArguments } = spawnCommand(agent.command, agent.args ?? []);
  const owned = new OwnedProcess({
    command,
    args,
    windowsVerbatimArguments,
    cwd: agent.cwd,
    env: { ...process.env, ...agent.env },
    onStderr: agent.onStderr,
    limits: agent.processLimits,
    mark,
    manifest: manifestFor(mark),
  });
  await Promise.race([new Promise((resolve) => owned.child.once("spawn", resolve)), owned.ended]);
  return owned;
}

/** Without one the agent still goes with its owner, unless that is killed. */
function manifestFor(mark: string): ManifestFile | undefined {
  try {
    return new ManifestFile(ownersFolder(), mark);
  } catch {
    return undefined;
  }
}
