import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { SandboxAgent, type Session } from "sandbox-agent";
import type { CodexHome } from "../turns/codex-home.ts";
import type { AppServerContender } from "../turns/contender.ts";
import { EXPECTED } from "../turns/script.ts";

/** Updates arrive after the response to their prompt. Those that have not arrived by then are lost. */
const LATE_MS = 2_000;

/** The HTTP server of `sandbox-agent` with the Codex adapter, read through its own client. */
export const sandboxAgent: AppServerContender = {
  async open(home) {
    await using stack = new AsyncDisposableStack();
    const { baseUrl } = stack.use(await startServer(home));
    const client = await SandboxAgent.connect({ baseUrl });
    // Not disposed of: its request to end the adapter is never answered.
    const opened = stack.move();
    return {
      async startThread() {
        const session = await client.createSession({ agent: "codex", cwd: home.workspace });
        return {
          run: (prompt) => readTurn(session, prompt),
          stream: (prompt) => readTurn(session, prompt),
        };
      },
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  },
};

interface Update {
  readonly method?: string;
  readonly params?: {
    readonly update?: { readonly sessionUpdate: string; readonly content?: { readonly text?: string } };
  };
}

async function readTurn(session: Session, prompt: keyof typeof EXPECTED): Promise<string> {
  let text = "";
  const complete = Promise.withResolvers<void>();
  const stop = session.onEvent(({ payload }) => {
    const { method, params } = payload as Update;
    if (method !== "session/update" || params?.update?.sessionUpdate !== "agent_message_chunk") return;
    text += params.update.content?.text ?? "";
    if (text.length >= EXPECTED[prompt].length) complete.resolve();
  });
  try {
    await session.prompt([{ type: "text", text: prompt }]);
    const timer = setTimeout(complete.resolve, LATE_MS);
    await complete.promise;
    clearTimeout(timer);
    return text;
  } finally {
    stop();
  }
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
  const port = await freePort();
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
      // A group of its own: the adapter and its codex outlive the server.
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

/** The server looks for `codex` and `codex-acp` in its path. */
async function linkPrograms(folder: string, codex: string): Promise<string> {
  await mkdir(folder);
  await symlink(codex, join(folder, "codex"));
  const adapter = createRequire(import.meta.url).resolve("@agentclientprotocol/codex-acp");
  const launcher = `#!/bin/sh\nexec "${process.execPath}" "${adapter}" "$@"\n`;
  await writeFile(join(folder, "codex-acp"), launcher, { mode: 0o755 });
  return folder;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
