import type {
  PermissionOption,
  PermissionOptionKind,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import { evaluatePolicy, type Policy, resolvePaths } from "@codexkit/approvals";
import type { ActivityEvent } from "../../contract/agent-event.ts";
import type { ToolCall } from "../events/tool-call.ts";
import { toApprovalRequest } from "./to-approval-request.ts";

/** The response to the agent, and the events that report it. */
export interface PermissionAnswer {
  readonly response: RequestPermissionResponse;
  readonly events: readonly ActivityEvent[];
  /** Why the request was denied. Undefined if it was allowed. */
  readonly denial: string | undefined;
}

const WITHDRAWN: RequestPermissionResponse = { outcome: { outcome: "cancelled" } };

/** Answers the permission requests of one session according to its policy. Undecided requests are denied. */
export class PermissionBroker {
  readonly #policy: Policy;
  readonly #cwd: string;
  #requests = 0;

  constructor(policy: Policy, cwd: string) {
    this.#policy = policy;
    this.#cwd = cwd;
  }

  /** The response if the session has already ended. */
  static get withdrawn(): RequestPermissionResponse {
    return WITHDRAWN;
  }

  async answer(call: ToolCall, request: RequestPermissionRequest): Promise<PermissionAnswer> {
    this.#requests += 1;
    const { allowed, reason } = await this.#judge(call);
    const option = choose(request.options, allowed);
    const tool = { toolUseId: `approval-${this.#requests}`, toolName: `approval:${call.kind}`, raw: request };
    const denied = !allowed || option === undefined;
    const content = `${denied ? "denied" : "allowed"}: ${reason}`;
    return {
      denial: denied ? content : undefined,
      response: option ? { outcome: { outcome: "selected", optionId: option.optionId } } : WITHDRAWN,
      events: [
        { kind: "tool_use", ...tool, toolCategory: "approval", input: call.input ?? { title: call.title } },
        { kind: "tool_result", ...tool, content, isError: denied },
        ...(denied
          ? [{ kind: "system", subtype: "approval_denied", message: content, raw: request } as const]
          : []),
      ],
    };
  }

  async #judge(call: ToolCall): Promise<{ readonly allowed: boolean; readonly reason: string }> {
    const request = toApprovalRequest(call, this.#cwd);
    const facts = await resolvePaths(this.#policy, request);
    const { decision, reason } = evaluatePolicy(this.#policy, request, facts);
    return { allowed: decision === "allow", reason };
  }
}

const ALLOW: readonly PermissionOptionKind[] = ["allow_once", "allow_always"];
const REJECT: readonly PermissionOptionKind[] = ["reject_once", "reject_always"];

/** Prefers the option with the shortest duration, so that the policy decides each request. */
function choose(options: readonly PermissionOption[], allowed: boolean): PermissionOption | undefined {
  return (allowed ? ALLOW : REJECT)
    .map((kind) => options.find((option) => option.kind === kind))
    .find((option) => option !== undefined);
}
