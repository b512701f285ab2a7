import { callTool, run, say, type ScriptFunction } from "@codexkit/scripted-model";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { TestSession } from "./start-runner.ts";

/** A model that starts an agent, which runs a command outside the sandbox, and waits for it. */
export const escalatingAgent: ScriptFunction = ({ lastUserText, newOutputs }) => {
  const agents = { namespace: "multi_agent_v1" };
  const [output] = newOutputs;
  if (lastUserText === "do your part")
    return output ? say("part done") : run("touch by-agent", { escalate: "why" });
  if (!output) return callTool("spawn_agent", { message: "do your part" }, agents);
  const id = /"agent_id":"([^"]+)"/.exec(output.text)?.[1];
  return id === undefined ? say("all done") : callTool("wait_agent", { targets: [id] }, agents);
};

/** Accepts the approval of the agent, and expects that its command has run by the end of the session's own turn. */
export async function acceptAgentCommand(session: TestSession, workspace: string): Promise<void> {
  const [approval] = await session.approval();
  const { thread_id: root } = await session.row();
  expect(approval?.thread_id).not.toBe(root);
  await session.answer(approval, { type: "decision", offer: "accept" });
  await session.event((event) => event.type === "turn.completed" && event.threadId === root);
  expect(existsSync(join(workspace, "by-agent"))).toBe(true);
}
