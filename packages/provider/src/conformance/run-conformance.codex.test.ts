import { callTool, gate, type Reply, run, say, type ScriptRequest, waitFor } from "@codexkit/scripted-model";
import { type CodexFolders, codexFolders } from "@codexkit/testing";
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { expectEveryTier } from "../../test/expect-every-tier.ts";
import { ECHO_SERVER } from "../../test/tiny-agent.ts";
import { CodexProvider } from "../codex/codex-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import { runConformance } from "./run-conformance.ts";

/** Never opens. Replies that wait for it end when they are interrupted. */
const never = gate();
const agentAnswered = gate();

const PRICE = { inputPerMillion: 1, outputPerMillion: 10 };

/** A model that follows the first word of its prompt. */
function model(request: ScriptRequest): Reply {
  if (String(request.headers["x-codex-turn-metadata"]).includes('"agent_name":"/root/helper"')) {
    void request.ended.then(() => agentAnswered.open());
    return say("I helped.");
  }
  const [order = "", ...rest] = request.lastUserText.split(" ");
  const isFirst = request.newOutputs.length === 0;
  switch (order) {
    case "work":
      return say(["Working", waitFor(never)]);
    case "tool":
      return isFirst ? run("echo hello") : say("Done.");
    case "echo":
      // Codex picks up injected text between two tool calls.
      return run("true");
    case "recall":
      return say(JSON.stringify(request.input.filter(({ type }) => type === "message")));
    case "server":
      return isFirst ? callTool("echo", { text: "hello" }, { namespace: "mcp__tests" }) : say("Done.");
    case "variable":
      return isFirst ? run(`echo "$${rest.join("")}"`) : say("Done.");
    case "trace":
      // The command continues in the background after Codex has waited for it.
      return isFirst
        ? run("while :; do echo x >> trace; sleep 0.01; done", { yieldMs: 250 })
        : say(["Working", waitFor(never)]);
    case "agent":
      return isFirst
        ? callTool("spawn_agent", { task_name: "helper", message: "help" }, { namespace: "collaboration" })
        : [waitFor(agentAnswered), say("Done.")];
    case "say":
    case "remember":
      return say(rest.join(" "));
    default:
      return say(request.lastUserText);
  }
}

// About 300 sessions and 30 starts of codex: half a minute, and more on a busy machine.
it("Codex earns every tier", { timeout: 240_000 }, async () => {
  await using folders = await codexFolders({ model, modelRetries: 0 });
  await using otherFolders = await codexFolders({ model: folders.model, modelRetries: 0 });
  const pids = new Set<number>();
  const make = async ({ env: { CODEX_HOME } }: CodexFolders): Promise<CodexProvider> => {
    const prices = { "mock-model": PRICE, "gpt-6.1-sol": PRICE };
    const provider = await CodexProvider.create({ env: { ...env, CODEX_HOME }, inheritEnv: false, prices });
    if (provider.pid !== undefined) pids.add(provider.pid);
    return provider;
  };
  const { env, workspace: cwd } = folders;
  // Without a sandbox: Codex takes half a second to set one up.
  const spec = (prompt: string): AgentSpec => ({ prompt, cwd, sandboxEnabled: false });
  const report = await runConformance(() => make(folders), {
    scenarios: {
      says: (words) => spec(`say ${words}`),
      works: () => spec("work"),
      usesTool: () => spec("tool"),
      callsModelTwice: () => spec("tool"),
      echoes: () => spec("echo"),
      remembers: { store: (words) => spec(`remember ${words}`), recall: () => spec("recall") },
      usesServer: () => ({ ...spec("server"), mcpStdioServers: ECHO_SERVER }),
      asks: () => spec("tool"),
      // The model whose tools include those for agents.
      startsAgent: () => ({ ...spec("agent"), model: "gpt-6.1-sol" }),
      saysVariable: (name) => spec(`variable ${name}`),
      leavesTrace: { works: () => spec("trace"), count: () => sizeOf(join(cwd, "trace")) },
      otherMachine: () => make(otherFolders),
      // The provider that most checks share is still running.
      leaks: () =>
        [...pids]
          .filter(isRunning)
          .slice(1)
          .map((pid) => `codex with the process id ${pid}`),
      crash: (provider) => {
        const { pid } = provider as CodexProvider;
        if (pid !== undefined) process.kill(pid, "SIGKILL");
      },
    },
    samples: { model: "mock-model", providerConfig: {} },
    // The agent leaves a trace every 10 ms.
    limits: { idleMs: 150 },
  });
  expectEveryTier(report);
  const open = report.checks.filter(({ status }) => status === "not_verified").map(({ id }) => id);
  expect(open).toEqual(["open-timeout-is-kept", "open-timeout-is-kept-resumed"]);
});

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
