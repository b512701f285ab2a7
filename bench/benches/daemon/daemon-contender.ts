import { fork } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DaemonClient } from "@codexkit/daemon/client";
import type { CodexHome } from "../turns/codex-home.ts";
import type { AppServerContender, AppServerSession } from "../turns/contender.ts";

const WAIT_MS = 60_000;

export interface DaemonSession extends AppServerSession {
  readonly url: string;
  readonly client: DaemonClient;
  readonly workspace: string;
  /** Bytes of the daemon's heap after a garbage collection. */
  heapUsed(): Promise<number>;
}

type Answer = { readonly url: string } | { readonly heap: number };

/** A session of the daemon, read through one SSE stream as a program using the client would. */
export const daemon: AppServerContender & { open(home: CodexHome): Promise<DaemonSession> } = {
  async open({ codex: codexPath, workspace, env }) {
    const stateFolder = join(dirname(workspace), "daemon");
    await mkdir(join(stateFolder, "codex"), { recursive: true });
    await copyFile(join(env["CODEX_HOME"] ?? "", "config.toml"), join(stateFolder, "codex", "config.toml"));
    const options = {
      stateFolder,
      roots: [workspace],
      userCodexHome: join(stateFolder, "none"),
      codex: { codexPath, env, inheritEnv: false },
    };
    const child = fork(new URL("daemon-program.ts", import.meta.url), [JSON.stringify(options)], {
      execArgv: ["--conditions=codexkit:source", "--expose-gc"],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const exited = once(child, "exit");
    const ask = async (question?: "heap"): Promise<Answer> => {
      const answered = once(child, "message") as Promise<[Answer]>;
      if (question !== undefined) child.send(question);
      const [answer] = await Promise.race([
        answered,
        exited.then(() => Promise.reject(new Error("The daemon ended."))),
      ]);
      return answer;
    };
    const started = await ask();
    const url = "url" in started ? started.url : "";
    const client = new DaemonClient({ url });
    const ending = new AbortController();
    return {
      url,
      client,
      workspace,
      async heapUsed() {
        const answer = await ask("heap");
        return "heap" in answer ? answer.heap : 0;
      },
      async startThread() {
        const { session, command } = await client.createSession(
          { cwd: workspace, permissionMode: "read-only", approvalPolicy: "never" },
          { wait: WAIT_MS },
        );
        if (command.problem) throw new Error(command.problem.detail);
        const events = client.sessionEvents(session.id, { signal: ending.signal });
        /** Reads until the turn ends. */
        const read = async (prompt: string): Promise<{ deltas: string; message: string }> => {
          await client.send(session.id, prompt);
          let deltas = "";
          let message = "";
          for (;;) {
            const { value: event, done } = await events.next();
            if (done || event.type === "turn.failed") throw new Error("The turn did not complete.");
            if (event.type === "item.delta" && event.kind === "message") deltas += event.delta;
            if (event.type === "item.completed" && event.item.type === "agentMessage")
              message = event.item.text;
            if (event.type === "turn.completed") return { deltas, message };
          }
        };
        return {
          run: async (prompt) => (await read(prompt)).message,
          stream: async (prompt) => (await read(prompt)).deltas,
        };
      },
      async [Symbol.asyncDispose]() {
        ending.abort();
        if (child.connected) child.send("close");
        await exited;
      },
    };
  },
};
