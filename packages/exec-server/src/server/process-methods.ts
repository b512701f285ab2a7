import type { ManagedNetwork } from "../network/managed-network.ts";
import type { FifoPool } from "../process/fifo-pool.ts";
import type { Launcher } from "../process/launcher.ts";
import { childEnv } from "../process/child-env.ts";
import type { ChildSpec } from "../process/child.ts";
import { spawnPiped } from "../process/spawn-piped.ts";
import { spawnPty } from "../process/spawn-pty.ts";
import type { Confined, Sandbox } from "../sandbox/sandbox.ts";
import { SnapshotCache } from "../session/snapshot-cache.ts";
import { spawnFailure } from "../wire/os-failure.ts";
import { nativeTextPath } from "../wire/path-uri.ts";
import {
  readParams,
  type ReadParams,
  signalParams,
  startParams,
  type StartParams,
  terminateParams,
  writeParams,
  type WriteParams,
} from "../wire/process-params.ts";
import { CODES, Refusal } from "../wire/refusal.ts";
import type { CallContext, Method } from "../session/method.ts";

interface SpawnDeps {
  readonly fifos: FifoPool;
  readonly launcher: Launcher;
}

export function processMethods(
  deps: SpawnDeps,
  sandbox: Sandbox,
  network: ManagedNetwork,
): [string, Method][] {
  const start = (params: StartParams, { session }: CallContext): Promise<object> =>
    startProcess(params, session, deps, { sandbox, network });
  return [
    ["process/start", { params: startParams, lane: "ordinary", run: start }],
    [
      "process/read",
      {
        params: readParams,
        lane: "ordinary",
        run: (params: ReadParams, { session, signal }: CallContext) => session.processes.read(params, signal),
      },
    ],
    [
      "process/write",
      {
        params: writeParams,
        lane: "ordinary",
        run: (params: WriteParams, { session }: CallContext) => session.processes.write(params),
      },
    ],
    [
      "process/signal",
      {
        params: signalParams,
        lane: "control",
        run: ({ processId }: { processId: string }, { session }: CallContext) => {
          session.processes.interrupt(processId);
          return {};
        },
      },
    ],
    [
      "process/terminate",
      {
        params: terminateParams,
        lane: "control",
        run: ({ processId }: { processId: string }, { session }: CallContext) =>
          session.processes.terminate(processId),
      },
    ],
  ];
}

async function startProcess(
  params: StartParams,
  session: CallContext["session"],
  deps: SpawnDeps,
  { sandbox, network }: { sandbox: Sandbox; network: ManagedNetwork },
): Promise<object> {
  const { processId } = params;
  const { processes, snapshots } = session;
  const proxy = network.proxyFor(params, session);
  SnapshotCache.check(params);
  const plain: ChildSpec = {
    argv: checkedArgv(params.argv),
    arg0: params.arg0 ?? undefined,
    cwd: nativeTextPath(params.cwd),
    env: { ...childEnv(params.env, params.envPolicy, process.env), ...proxy?.env },
    pipeStdin: params.pipeStdin === true,
    extraFiles: [],
  };
  const leftovers = new DisposableStack();
  leftovers.use(proxy);
  let confined: Confined | undefined;
  try {
    // The id is reserved before the sandbox is planned, so that a terminate that arrives meanwhile is not
    // lost.
    await processes.start(
      processId,
      async (events) => {
        if (params.sandbox) confined = await sandbox.confine(plain, params.sandbox, proxy);
        leftovers.use(confined?.leftovers);
        const ready = await snapshots.apply(confined?.spec ?? plain, params, deps);
        return params.tty ? spawnPty(ready, deps, events) : spawnPiped(ready, deps, events);
      },
      {
        denied: params.sandbox ? (exitCode, tail) => confined?.denied?.(exitCode, tail) ?? false : undefined,
        leftovers,
      },
    );
  } catch (error) {
    leftovers.dispose();
    throw spawnFailure(error);
  }
  return { processId, sandboxType: confined?.sandboxType ?? "none" };
}

function checkedArgv(argv: readonly string[]): readonly [string, ...string[]] {
  const [program, ...rest] = argv;
  if (program === undefined) throw new Refusal(CODES.invalidParams, "argv must not be empty");
  if (program === "") throw new Refusal(CODES.internal, "missing program for spawn");
  if (argv.some((word) => word.includes("\0")))
    throw new Refusal(CODES.internal, "nul byte found in provided data");
  return [program, ...rest];
}
