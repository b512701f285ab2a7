// Codex asks about hosts only if an administrator manages its network. Otherwise it blocks them without asking.
import { type AuditRecord, definePolicy, type PolicyInput } from "@codexkit/approvals";
import { run, say, type ScriptFunction } from "@codexkit/scripted-model";
import { type LaunchedCodex, launchCodex, managedCodex } from "@codexkit/testing";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Thread } from "../src/thread/thread.ts";
import type { CommandDecision } from "../src/requests/decisions.ts";
import { policyHandlers } from "../src/requests/policy-handlers.ts";

const REQUIREMENTS = `
[experimental_network]
enabled = true
allow_local_binding = true
`;

const script: ScriptFunction = ({ lastUserText, newOutputs }) =>
  newOutputs.length > 0 ? say(newOutputs.map(({ text }) => text).join("\n")) : run(get(lastUserText));

/** Uses Codex's proxy directly: common HTTP clients bypass a proxy for this host. */
function get(address: string): string {
  const request = String.raw`GET http://${address}/ HTTP/1.1\r\nHost: ${address}\r\nConnection: close\r\n\r\n`;
  return `proxy=\${HTTP_PROXY#http://}; exec 3<>/dev/tcp/\${proxy%:*}/\${proxy##*:}; printf '${request}' >&3; cat <&3`;
}

let stack: AsyncDisposableStack;
let stage: LaunchedCodex;
let web: Server;
let policy: PolicyInput;
let decided: CommandDecision | undefined;
let records: AuditRecord[];

// One codex per test, because permanent decisions are stored in its home.
beforeEach(async () => {
  policy = { default: "deny" };
  decided = undefined;
  records = [];
  stack = new AsyncDisposableStack();
  web = createServer((_request, response) => response.end("a page\n"));
  stack.defer(() => void web.close());
  await new Promise<void>((resolve) => {
    web.listen(0, "127.0.0.1", resolve);
  });
  const { codexPath, wrapperArgs } = stack.use(await managedCodex(REQUIREMENTS));
  const byPolicy = policyHandlers(() => definePolicy(policy), {
    onDecision: (record) => records.push(record),
  });
  stage = stack.use(
    await launchCodex({
      model: script,
      modelName: "gpt-5.5",
      modelRetries: 0,
      codexPath,
      wrapperArgs,
      config: { sandbox_workspace_write: { network_access: true } },
      handlers: { approve: (approval, context) => decided ?? byPolicy.approve(approval, context) },
    }),
  );
});

afterEach(() => stack.disposeAsync());

function startThread(): Promise<Thread> {
  return stage.codex.startThread({
    cwd: stage.workspace,
    sandbox: "workspace-write",
    approvalPolicy: "on-request",
  });
}

/** Sends one request from a sandboxed command to a local server. Returns the outcome and the approvals. */
async function visit(thread: Thread) {
  const { port } = web.address() as AddressInfo;
  const turn = thread.run(`127.0.0.1:${port}`);
  const events = await Array.fromAsync(turn);
  const asked = events.filter((event) => event.type === "approval.requested");
  const { finalResponse, status } = await turn.result();
  return { asked, status, reached: finalResponse.includes("a page") };
}

describe("a connection to a host", () => {
  it("is made if the policy allows its host, and not asked about again in any thread", async () => {
    policy = { default: "deny", network: { allow: ["127.0.0.1"] } };
    const { asked, ...outcome } = await visit(await startThread());
    expect(outcome).toEqual({ status: "completed", reached: true });
    expect(asked).toMatchObject([
      { request: { networkApprovalContext: { host: "127.0.0.1", protocol: "http" } } },
    ]);
    expect(records).toMatchObject([
      { decision: "allow", evaluation: { rule: "network.allow" }, decidedBy: "policy" },
    ]);
    expect(await visit(await startThread())).toMatchObject({ asked: [], reached: true });
  });

  it("that the policy denies is not made, and the turn continues", async () => {
    policy = { default: "deny", network: { allow: ["*.example.com"], loopback: "deny" } };
    const { asked, ...outcome } = await visit(await startThread());
    expect(asked).toHaveLength(1);
    expect(outcome).toEqual({ status: "completed", reached: false });
    expect(records).toMatchObject([{ decision: "deny" }]);
  });

  it("that is accepted once is asked about again", async () => {
    decided = "accept";
    const thread = await startThread();
    expect(await visit(thread)).toMatchObject({ asked: [{}], reached: true });
    expect(await visit(thread)).toMatchObject({ asked: [{}], reached: true });
  });

  it("that is accepted for the session is not asked about again in it", async () => {
    policy = { default: "deny", additionalAllow: [{ kind: "host", host: "127.0.0.1", scope: "session" }] };
    const thread = await startThread();
    expect(await visit(thread)).toMatchObject({ asked: [{}], reached: true });
    expect(await visit(thread)).toMatchObject({ asked: [], reached: true });
    expect(await visit(await startThread())).toMatchObject({ asked: [{}], reached: true });
  });

  it("that is cancelled interrupts the turn", async () => {
    decided = "cancel";
    expect(await visit(await startThread())).toMatchObject({ status: "interrupted", reached: false });
  });
});
