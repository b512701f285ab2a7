// The real `codex app-server` under an administrator who manages its network, with our server as its hands. It asks about
// hosts only when its own reviewer decides (`approvals_reviewer`): with a person to decide, Codex 0.166 sends the policy
// alone, and what that leaves open is blocked. Its own exec-server is treated the same.
import { run, say, type ScriptFunction } from "@codexkit/scripted-model";
import { launchCodex, managedCodex } from "@codexkit/testing";
import { expect, test } from "vitest";
import { startWeb, visit } from "./network.ts";
import { ExecServer } from "../src/server/exec-server.ts";

/** A turn with the real codex takes seconds on a busy machine. */
const TURN_MS = 60_000;

interface Stage {
  /** More of the administrator's requirements. */
  readonly requirements?: string;
  readonly reviewer?: "auto_review";
  /** What Codex's reviewer, which is a model too, says to every question. */
  readonly outcome?: "allow" | "deny";
}

/** One turn in which a sandboxed command visits a web server of this machine by way of its proxy. */
async function visitInTurn({ requirements = "", reviewer, outcome }: Stage) {
  await using stack = new AsyncDisposableStack();
  const { port } = stack.use(await startWeb());
  const server = stack.use(await ExecServer.start());
  const network = `[experimental_network]\nenabled = true\nallow_local_binding = true\n${requirements}`;
  const { codexPath, wrapperArgs } = stack.use(await managedCodex(network));
  const reviews: string[] = [];
  const approvals: unknown[] = [];
  const [, , command = ""] = visit("http", "127.0.0.1", port);
  const script: ScriptFunction = ({ body, lastUserText, newOutputs }) => {
    // The reviewer is told how to answer: in JSON, with an outcome.
    if (JSON.stringify(body["text"] ?? null).includes("outcome")) {
      reviews.push(lastUserText);
      return say(
        JSON.stringify({ risk_level: "low", user_authorization: "high", outcome, rationale: "as told" }),
      );
    }
    return newOutputs.length > 0 ? say(newOutputs.map(({ text }) => text).join("\n")) : run(command);
  };
  const { codex, workspace } = stack.use(
    await launchCodex({
      model: script,
      modelName: "gpt-5.5",
      modelRetries: 0,
      codexPath,
      wrapperArgs: [...wrapperArgs],
      config: {
        sandbox_workspace_write: { network_access: true },
        ...(reviewer ? { approvals_reviewer: reviewer } : {}),
      },
      env: { CODEX_EXEC_SERVER_URL: server.url ?? "" },
      handlers: {
        approve: (approval) => {
          approvals.push(approval);
          return "decline";
        },
      },
    }),
  );
  const thread = await codex.startThread({
    cwd: workspace,
    sandbox: "workspace-write",
    approvalPolicy: "on-request",
  });
  const { status, finalResponse } = await thread.run("go").result();
  return {
    status,
    response: finalResponse,
    reached: finalResponse.includes("a page"),
    reviews,
    approvals,
    port,
  };
}

test("a host that its reviewer allows is reached", { timeout: TURN_MS }, async () => {
  const { status, reached, reviews, port } = await visitInTurn({ reviewer: "auto_review", outcome: "allow" });
  expect({ status, reached }).toEqual({ status: "completed", reached: true });
  expect(reviews).toHaveLength(1);
  expect(reviews[0]).toContain(`127.0.0.1:${port}`);
});

test("a host that its reviewer denies is not reached", { timeout: TURN_MS }, async () => {
  const { status, reached, reviews, response } = await visitInTurn({
    reviewer: "auto_review",
    outcome: "deny",
  });
  expect({ status, reached }).toEqual({ status: "completed", reached: false });
  expect(reviews).toHaveLength(1);
  expect(response).toContain("rejected");
});

test("a host that the administrator allows is reached without a question", { timeout: TURN_MS }, async () => {
  const { reached, reviews, approvals } = await visitInTurn({
    requirements: '[experimental_network.domains]\n"127.0.0.1" = "allow"\n',
  });
  expect({ reached, reviews, approvals }).toEqual({ reached: true, reviews: [], approvals: [] });
});

test(
  "a host that the policy leaves open is blocked where a person would decide",
  { timeout: TURN_MS },
  async () => {
    const { reached, approvals, response } = await visitInTurn({});
    expect({ reached, approvals }).toEqual({ reached: false, approvals: [] });
    expect(response).toContain('"reason":"not_allowed"');
  },
);
