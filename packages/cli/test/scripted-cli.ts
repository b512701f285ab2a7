import { codexFolders } from "@codexkit/testing";
import { type Reply, say, type ScriptedModel, type ScriptRequest } from "@codexkit/scripted-model";
import { type CliOptions, type FinishedCli, runCli, startCli } from "./cli-process.ts";
import { CliTerminal } from "./cli-terminal.ts";

/** The model's replies by the first word of the user's last message. Each but the last calls one tool. */
export type Scenarios = Readonly<Record<string, readonly Reply[]>>;

/** The command line on one scripted model for all tests of a file. */
export interface ScriptedCli extends AsyncDisposable {
  readonly model: ScriptedModel;
  readonly workspace: string;
  readonly codexHome: string;
  readonly env: NodeJS.ProcessEnv;
  run(args: readonly string[], options?: CliOptions): Promise<FinishedCli>;
  start(args: readonly string[], options?: CliOptions): ReturnType<typeof startCli>;
  open(
    args: readonly string[],
    options?: { columns?: number; rows?: number; env?: CliOptions["env"] },
  ): CliTerminal;
}

export async function openScriptedCli(scenarios: Scenarios): Promise<ScriptedCli> {
  const folders = await codexFolders({
    model: (request) => {
      const [name = ""] = request.lastUserText.trim().split(/\s/);
      return scenarios[name]?.[countOutputs(request)] ?? [say(`No reply of ${name} is left.`)];
    },
  });
  const { workspace, codexHome, env } = folders;
  const options = (given: CliOptions = {}): CliOptions => ({
    cwd: workspace,
    ...given,
    env: { ...env, ...given.env },
  });
  return {
    model: folders.model,
    workspace,
    codexHome,
    env,
    run: (args, given) => runCli(args, options(given)),
    start: (args, given) => startCli(args, options(given)),
    open: (args, { columns, rows, ...given } = {}) =>
      new CliTerminal(args, {
        ...options(given),
        ...(columns === undefined ? {} : { columns }),
        ...(rows === undefined ? {} : { rows }),
      }),
    [Symbol.asyncDispose]: () => folders[Symbol.asyncDispose](),
  };
}

/** Outputs of tools since the user's last message. */
function countOutputs({ input }: ScriptRequest): number {
  const asked = input.findLastIndex(({ role }) => role === "user");
  return input.slice(asked + 1).filter(({ type }) => type.endsWith("_output")).length;
}
