// Harnesses and executors, ours and Codex's own, with one interface: what a turn does on the machine of an executor.
import {
  patch,
  run,
  say,
  type ScriptFunction,
  type ScriptRequest,
  writeStdin,
} from "@codexkit/scripted-model";
import { startTurn, tempFolder } from "@codexkit/testing";
import { join } from "node:path";
import { runExecutor } from "../src/executor/run-executor.ts";
import { connectHarness } from "../src/harness/connect-harness.ts";
import { type RealEndOptions, startRealExecutor, startRealHarness } from "./real-codex.ts";
import { ENVIRONMENT, startTestRegistry, type TestRegistry, waitForExecutor } from "./registry-fixture.ts";

export type EndKind = "ours" | "codex";

/** Of a PTY, the output of a terminal: with carriage returns. */
export interface PairedResult {
  readonly output: string;
  readonly exitCode: number | undefined;
}

export interface PairedHarness extends AsyncDisposable {
  /** A folder that both ends can see. */
  readonly workspace: string;
  /** Calls back when the harness knows that the command has started. */
  run(command: string, onStarted?: () => Promise<void>): Promise<PairedResult>;
  /** Runs a command on a PTY, types into it once it has started, and returns what the terminal shows after that. */
  type(command: string, input: string): Promise<PairedResult>;
  /** Leaves a command running in the background, runs another one, and returns the ends of both. */
  runBehind(background: string, foreground: string): Promise<readonly [PairedResult, PairedResult]>;
  /** Adds `new/deep.txt`, changes `old.txt` from `one` to `two`, and deletes `gone.txt`. */
  patch(): Promise<void>;
}

/** A registry that can be stopped, and started again at the same address. */
export async function startRestartableRegistry() {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await tempFolder("registry-store"));
  let running: TestRegistry | undefined = await startTestRegistry({ store: folder.path });
  stack.defer(() => running?.[Symbol.asyncDispose]());
  const { url } = running;
  const owner = stack.move();
  const at = async (scope: "execute" | "connect"): Promise<RealEndOptions> => ({
    registryUrl: url,
    environmentId: ENVIRONMENT,
    token: (await running?.token(scope)) ?? "",
  });
  return {
    at,
    stop: async () => {
      const stopped = running;
      running = undefined;
      await stopped?.[Symbol.asyncDispose]();
    },
    start: async () => {
      running = await startTestRegistry({ store: folder.path, port: Number(new URL(url).port) });
    },
    waitForExecutor: async () => {
      if (running) await waitForExecutor(running);
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

export async function startExecutor(kind: EndKind, at: RealEndOptions): Promise<AsyncDisposable> {
  if (kind === "codex") return startRealExecutor(at);
  return runExecutor({ registryUrl: at.registryUrl, environmentId: at.environmentId, credential: at.token });
}

export async function startHarness(kind: EndKind, at: RealEndOptions): Promise<PairedHarness> {
  return kind === "codex" ? startCodexHarness(at) : startOurHarness(at);
}

async function startOurHarness(at: RealEndOptions): Promise<PairedHarness> {
  await using stack = new AsyncDisposableStack();
  const workspace = stack.use(await tempFolder("pairing")).path;
  const client = stack.use(
    await connectHarness({
      registryUrl: at.registryUrl,
      environmentId: at.environmentId,
      credential: at.token,
    }),
  );
  const owner = stack.move();
  const start = (command: string, tty = false) =>
    client.start({
      argv: ["/bin/bash", "-lc", command],
      cwd: workspace,
      env: { HOME: workspace, PATH: "/usr/bin:/bin" },
      tty,
    });
  const end = async (process: Awaited<ReturnType<typeof start>>): Promise<PairedResult> => {
    const { stdout, exitCode } = await process.collect();
    return { output: String(stdout), exitCode };
  };
  return {
    workspace,
    run: async (command, onStarted) => {
      const process = await start(command);
      const [result] = await Promise.all([end(process), onStarted?.()]);
      return result;
    },
    type: async (command, input) => {
      const process = await start(command, true);
      await process.stdin.write(input);
      return end(process);
    },
    runBehind: async (background, foreground) => {
      const process = await start(background);
      const second = await end(await start(foreground));
      return [await end(process), second];
    },
    patch: async () => {
      const path = (name: string): string => join(workspace, name);
      await client.files.makeDirectory(path("new"));
      await client.files.write(path("new/deep.txt"), "hello\n");
      const old = String(await client.files.read(path("old.txt")));
      await client.files.write(path("old.txt"), old.replace("one", "two"));
      await client.files.remove(path("gone.txt"));
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

const PATCH = [
  "*** Begin Patch",
  "*** Add File: new/deep.txt",
  "+hello",
  "*** Update File: old.txt",
  "@@",
  "-one",
  "+two",
  "*** Delete File: gone.txt",
  "*** End Patch",
].join("\n");

/** How long a tool call waits for the command to end. */
const YIELD_MS = 25_000;
/** Shorter than the commands that are to be left behind. */
const SHORT_YIELD_MS = 300;

/** One app-server for all turns: the script of the current turn is a variable. */
async function startCodexHarness(at: RealEndOptions): Promise<PairedHarness> {
  let script: ScriptFunction = () => "unused";
  const app = await startRealHarness(at, (request, ...rest) => script(request, ...rest));
  const peer = await app.connect();
  /** Runs a turn whose script says "done" at its end, and returns the last request, which has all results. */
  const turn = async (
    turnScript: (request: ScriptRequest) => ReturnType<ScriptFunction>,
  ): Promise<ScriptRequest> => {
    script = turnScript;
    const { ended } = await startTurn(peer, {
      cwd: app.workspace,
      sandbox: "danger-full-access",
      approvalPolicy: "never",
    });
    const status = await ended;
    const last = app.model.requests.at(-1);
    if (status !== "completed" || !last) throw new Error(`The turn ended as ${status}.`);
    return last;
  };
  /** The first call for a command's end, and those that followed because the command was still running. */
  const callsFrom = (request: ScriptRequest, first: string): string[] => {
    const calls = [first];
    while (request.commandResult(`${first}${calls.length}`)) calls.push(`${first}${calls.length}`);
    return calls;
  };
  /** Waits again if the command is still running: on a busy machine, it may take longer than one call waits. */
  const waitAgain = (request: ScriptRequest, first: string): ReturnType<typeof writeStdin> | undefined => {
    const calls = callsFrom(request, first);
    const { sessionId, exitCode } = request.commandResult(calls.at(-1) ?? first) ?? {};
    if (sessionId === undefined || exitCode !== undefined) return undefined;
    return writeStdin(sessionId, "", { callId: `${first}${calls.length}`, yieldMs: YIELD_MS });
  };
  const resultOf = (request: ScriptRequest, ...callIds: string[]): PairedResult => {
    const results = callIds.map((callId) => request.commandResult(callId));
    return {
      output: results.map((result) => result?.output ?? "").join(""),
      exitCode: results.at(-1)?.exitCode,
    };
  };
  return {
    workspace: app.workspace,
    run: async (command, onStarted) => {
      const started = Promise.withResolvers<void>();
      using _handler = peer.on("item/started", ({ item }) => {
        if (item.type === "commandExecution") started.resolve();
      });
      const [last] = await Promise.all([
        turn((request) => {
          if (!request.commandResult("c")) return [run(command, { callId: "c", yieldMs: YIELD_MS })];
          return [waitAgain(request, "c") ?? say("done")];
        }),
        onStarted && started.promise.then(onStarted),
      ]);
      return resultOf(last, ...callsFrom(last, "c"));
    },
    type: async (command, input) => {
      const last = await turn((request) => {
        const started = request.commandResult("c");
        if (!started) return [run(command, { callId: "c", tty: true, yieldMs: SHORT_YIELD_MS })];
        if (request.commandResult("w")) return [waitAgain(request, "w") ?? say("done")];
        return [writeStdin(started.sessionId ?? -1, input, { callId: "w", yieldMs: YIELD_MS })];
      });
      return resultOf(last, "c", ...callsFrom(last, "w"));
    },
    runBehind: async (background, foreground) => {
      const last = await turn((request) => {
        const started = request.commandResult("b");
        if (!started) return [run(background, { callId: "b", yieldMs: SHORT_YIELD_MS })];
        if (!request.commandResult("f")) return [run(foreground, { callId: "f", yieldMs: YIELD_MS })];
        const waiting = waitAgain(request, "f");
        if (waiting) return [waiting];
        if (request.commandResult("w")) return [waitAgain(request, "w") ?? say("done")];
        return [writeStdin(started.sessionId ?? -1, "", { callId: "w", yieldMs: YIELD_MS })];
      });
      return [resultOf(last, "b", ...callsFrom(last, "w")), resultOf(last, ...callsFrom(last, "f"))];
    },
    patch: async () => {
      await turn((request) => (request.output("p") ? [say("done")] : [patch(PATCH, { callId: "p" })]));
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
