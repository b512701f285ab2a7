import { callTool, gate, type Reply, run, say, type ScriptRequest, waitFor } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import { expect, it } from "vitest";
import { ECHO_SERVER } from "../../test/tiny-agent.ts";
import { CodexProvider } from "../codex/codex-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import { runConformance } from "./run-conformance.ts";

/** Never opened: whoever waits for it is interrupted. */
const never = gate();
const agentAnswered = gate();

/** A model that does what the first word of its prompt says. */
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
      // Between two calls of a tool Codex looks for what was injected.
      return run("true");
    case "recall":
      return say(JSON.stringify(request.input.filter(({ type }) => type === "message")));
    case "server":
      return isFirst ? callTool("echo", { text: "hello" }, { namespace: "mcp__tests" }) : say("Done.");
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

// Some eighty sessions and ten starts of codex: eight seconds, and more on a machine that is busy.
it("Codex earns every tier", { timeout: 90_000 }, async () => {
  await using folders = await codexFolders({ model, modelRetries: 0 });
  const { env, workspace: cwd } = folders;
  // Without a sandbox: Codex takes half a second to set one up.
  const spec = (prompt: string): AgentSpec => ({ prompt, cwd, sandboxEnabled: false });
  const report = await runConformance(() => CodexProvider.create({ env, inheritEnv: false }), {
    scenarios: {
      says: (words) => spec(`say ${words}`),
      works: () => spec("work"),
      usesTool: () => spec("tool"),
      callsModelTwice: () => spec("tool"),
      echoes: () => spec("echo"),
      remembers: { told: (words) => spec(`remember ${words}`), asked: () => spec("recall") },
      usesServer: () => ({ ...spec("server"), mcpStdioServers: ECHO_SERVER }),
      asks: () => spec("tool"),
      // The one whose tools include those for agents.
      startsAgent: () => ({ ...spec("agent"), model: "gpt-6.1-sol" }),
      crash: (provider) => {
        const { pid } = provider as CodexProvider;
        if (pid !== undefined) process.kill(pid, "SIGKILL");
      },
    },
    samples: { model: "mock-model", providerConfig: {} },
  });
  expect(report.checks.filter(({ status }) => status === "failed")).toEqual([]);
  expect(report.tiers.map(({ tier, status }) => `${tier} ${status}`)).toEqual([
    "event-contract earned",
    "injection earned",
    "resume earned",
    "adaptation-receipt earned",
  ]);
});
