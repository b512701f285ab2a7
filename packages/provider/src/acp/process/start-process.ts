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
  /** Environment variables in addition to those of this process. Undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Working directory of the agent process. Each session has its own `cwd`. */
  readonly cwd?: string | undefined;
  /** Called with every line that the agent writes to stderr. */
  readonly onStderr?: ((line: string) => void) | undefined;
  /** Time limits for ending the process. */
  readonly processLimits?: Partial<ProcessLimits> | undefined;
}

/** Starts an agent process that does not outlive this program. If it could not be started, `startError` is set. */
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

/** Without a manifest the agent still ends with its owner, unless the owner is killed. */
function manifestFor(mark: string): ManifestFile | undefined {
  try {
    return new ManifestFile(ownersFolder(), mark);
  } catch {
    return undefined;
  }
}
