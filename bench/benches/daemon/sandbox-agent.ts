import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AsyncDisposableStack } from "@codexkit/rpc/async";
import { findFreePort } from "@codexkit/testing";
import { SandboxAgent, type Session } from "sandbox-agent";
import type { CodexHome } from "../turns/codex-home.ts";
import { inSession, type SessionContext } from "../turns/in-session.ts";
import { DELTAS, type Prompt } from "../turns/script.ts";
import { divided, type Effort, timed } from "../turns/stopwatch.ts";

/**
 * Updates arrive after the response to their prompt. Those that have not arrived within this time are lost.
 */
const LATE_MS = 1_000;
const TURNS = 3;

/**
 * One turn of deltas through the HTTP server of `sandbox-agent` with the Codex adapter, read through its own client. It loses
 * updates when its reader is slower than codex. A turn therefore ends with the last update that arrives.
 */
export function streamThroughSandboxAgent(
  sessionContext: SessionContext,
): Promise<Effort & { readonly received: number }> {
  return inSession({ open: openSession }, sessionContext, async ({ session }) => {
    await readTurn(session, "answer", 1);
    // As for the others, the turn in which the adapter compiles its code is not measured.
    await readTurn(session, "stream", DELTAS);
    let time = 0;
    let received = 0;
    const effort = await timed(async () => {
      for (let turn = 0; turn < TURNS; turn += 1) {
        const result = await readTurn(session, "stream", DELTAS);
        time += result.time;
        received += result.received;
      }
    });
    const { "client cpu": cpu } = divided(effort, TURNS);
    return { time: time / TURNS, "client cpu": cpu, received: received / TURNS };
  });
}

interface Update {
  readonly method?: string;
  readonly params?: {
    readonly update?: { readonly sessionUpdate: string; readonly content?: { readonly text?: string } };
  };
}

async function readTurn(
  session: Session,
  prompt: Prompt,
  deltas: number,
): Promise<{ readonly time: number; readonly received: number }> {
  const begin = performance.now();
  let end = begin;
  let received = 0;
  const complete = Promise.withResolvers<void>();
  const stop = session.onEvent(({ payload }) => {
    const { method, params } = payload as Update;
    if (method !== "session/update" || params?.update?.sessionUpdate !== "agent_message_chunk") return;
    // The adapter puts a warning about the unknown model before the answer.
    if (params.update.content?.text?.startsWith("Warning:")) return;
    received += 1;
    end = performance.now();
    if (received >= deltas) complete.resolve();
  });
  try {
    await session.prompt([{ type: "text", text: prompt }]);
    end = performance.now();
    const timer = setTimeout(complete.resolve, LATE_MS);
    await complete.promise;
    clearTimeout(timer);
    return { time: end - begin, received };
  } finally {
    stop();
  }
}

async function openSession(home: CodexHome): Promise<AsyncDisposable & { readonly session: Session }> {
  await using stack = new AsyncDisposableStack();
  const { baseUrl } = stack.use(await startServer(home));
  // Not disposed of, because its request to end the adapter is never answered.
  const client = await SandboxAgent.connect({ baseUrl });
  const session = await client.createSession({ agent: "codex", cwd: home.workspace });
  const opened = stack.move();
  return { session, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function startServer({
  codex,
  workspace,
  env,
}: CodexHome): Promise<AsyncDisposable & { baseUrl: string }> {
  const require = createRequire(import.meta.url);
  const folder = dirname(
    require.resolve(`@sandbox-agent/cli-${process.platform}-${process.arch}/package.json`),
  );
  const program = join(folder, "bin", "sandbox-agent");
  // npm does not make it executable.
  await chmod(program, 0o755);
  const programs = await linkPrograms(join(dirname(workspace), "programs"), codex);
  const port = await findFreePort();
  const child = spawn(
    program,
    ["server", "--no-token", "--no-telemetry", "--host", "127.0.0.1", "--port", `${port}`],
    {
      cwd: workspace,
      env: {
        ...env,
        PATH: `${programs}:${env["PATH"] ?? ""}`,
        CODEX_PATH: codex,
        INITIAL_AGENT_MODE: "read-only",
        SANDBOX_AGENT_REQUIRE_PREINSTALL: "1",
      },
      stdio: "ignore",
      // In its own process group, because the adapter and its codex outlive the server.
      detached: true,
    },
  );
  const exited = once(child, "exit");
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      process.kill(-(child.pid ?? 0), "SIGKILL");
      await exited;
    },
  };
}

/** The server searches its PATH for `codex` and `codex-acp`. */
async function linkPrograms(folder: string, codex: string): Promise<string> {
  await mkdir(folder);
  await symlink(codex, join(folder, "codex"));
  const adapter = fileURLToPath(import.meta.resolve("@agentclientprotocol/codex-acp"));
  const launcher = `#!/bin/sh\nexec "${process.execPath}" "${adapter}" "$@"\n`;
  await writeFile(join(folder, "codex-acp"), launcher, { mode: 0o755 });
  return folder;
}
