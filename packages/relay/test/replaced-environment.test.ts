// `environment/add` replaces the environment of a turn that is running a command on it. What Codex does then must not
// depend on how it was connected: directly to an exec-server, or through a relay to Codex's executor or to ours.
import { run, say, type ScriptRequest } from "@codexkit/scripted-model";
import { findCodex, OwnedProcess, startAppServer, startTurn, tempFolder } from "@codexkit/testing";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startExecutor, startRestartableRegistry } from "./pairings.ts";
import { startRealHarness } from "./real-codex.ts";

type FirstEnvironment = "an exec-server" | "codex" | "ours";

/** Codex's exec-server, whose commands have `WHO` in their environment. */
async function startExecServer(who: string): Promise<AsyncDisposable & { readonly url: string }> {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await tempFolder("exec-home"));
  const server = new OwnedProcess({
    command: findCodex().path,
    args: ["exec-server"],
    env: { ...process.env, CODEX_HOME: home.path, HOME: home.path, TMPDIR: home.path, WHO: who },
  });
  stack.defer(() => server.stop("SIGTERM"));
  const [line] = (await once(server.child.stdout, "data")) as [Buffer];
  const owner = stack.move();
  return { url: String(line).trim(), [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

const script = (request: ScriptRequest) => {
  const identify = 'echo "on ${WHO:-first}"';
  const wait = `${identify}; while [ ! -e replaced ]; do sleep 0.05; done; echo ended`;
  if (!request.commandResult("a")) return [run(wait, { callId: "a", yieldMs: 25_000 })];
  if (!request.commandResult("b")) return [run(identify, { callId: "b", yieldMs: 25_000 })];
  return [say("done")];
};

async function startHarness(kind: FirstEnvironment, stack: AsyncDisposableStack) {
  if (kind === "an exec-server") {
    const first = stack.use(await startExecServer("first"));
    return stack.use(await startAppServer({ model: script, env: { CODEX_EXEC_SERVER_URL: first.url } }));
  }
  const registry = stack.use(await startRestartableRegistry());
  stack.use(await startExecutor(kind, await registry.at("execute")));
  await registry.waitForExecutor();
  return stack.use(await startRealHarness(await registry.at("connect"), script));
}

/** What becomes of the command that runs, and where the next one runs. */
async function replaceInTurn(kind: FirstEnvironment) {
  await using stack = new AsyncDisposableStack();
  const app = await startHarness(kind, stack);
  const second = stack.use(await startExecServer("second"));
  const peer = await app.connect();
  const started = Promise.withResolvers<void>();
  // Not earlier: what becomes of a command whose start was not answered depends on who is faster.
  peer.on("item/started", ({ item }) => item.type === "commandExecution" && started.resolve());
  const { ended } = await startTurn(peer, {
    cwd: app.workspace,
    sandbox: "danger-full-access",
    approvalPolicy: "never",
  });
  await started.promise;
  await peer.request("environment/add", { environmentId: "remote", execServerUrl: second.url });
  await writeFile(join(app.workspace, "replaced"), "");
  const status = await ended;
  const last = app.model.requests.at(-1);
  return { status, running: last?.commandResult("a"), next: last?.commandResult("b") };
}

test("the turn keeps its environment, as with a direct connection", { timeout: 120_000 }, async () => {
  const direct = await replaceInTurn("an exec-server");
  expect(direct).toMatchObject({
    status: "completed",
    running: { output: "on first\nended\n", exitCode: 0 },
    next: { output: "on first\n", exitCode: 0 },
  });
  expect(await replaceInTurn("codex")).toEqual(direct);
  expect(await replaceInTurn("ours")).toEqual(direct);
});
