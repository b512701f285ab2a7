import type {
  PermissionOption,
  PermissionOptionKind,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import { evaluate, type Policy, resolvePaths } from "@codexkit/approvals";
import type { ActivityEvent } from "../../contract/agent-event.ts";
import type { ToolCall } from "../events/tool-call.ts";
import { toApprovalRequest } from "./to-approval-request.ts";

/** An answer to an agent, and what a runner is told of it. */
export interface PermissionAnswer {
  readonly response: RequestPermissionResponse;
  readonly events: readonly ActivityEvent[];
  /** Why it was denied; undefined if it was allowed. */
  readonly denial: string | undefined;
}

const WITHDRAWN: RequestPermissionResponse = { outcome: { outcome: "cancelled" } };

/** Answers what the agent of one session asks, by its policy. Nobody is there to be asked: in doubt it is a no. */
export class PermissionDesk {
  readonly #policy: Policy;
  readonly #cwd: string;
  #asked = 0;

  constructor(policy: Policy, cwd: string) {
    this.#policy = policy;
    this.#cwd = cwd;
  }

  /** The answer to give where no session waits for one any more. */
  static get withdrawn(): RequestPermissionResponse {
    return WITHDRAWN;
  }

  async answer(call: ToolCall, request: RequestPermissionRequest): Promise<PermissionAnswer> {
    this.#asked += 1;
    const { allowed, reason } = await this.#judge(call);
    const option = choose(request.options, allowed);
    const tool = { toolUseId: `approval-${this.#asked}`, toolName: `approval:${call.kind}`, raw: request };
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
    const { decision, reason } = evaluate(this.#policy, request, facts);
    return { allowed: decision === "allow", reason };
  }
}

const ALLOW: readonly PermissionOptionKind[] = ["allow_once", "allow_always"];
const REJECT: readonly PermissionOptionKind[] = ["reject_once", "reject_always"];

/** The option that says it for the shortest time: the policy is asked again for the next one. */
function choose(options: readonly PermissionOption[], allowed: boolean): PermissionOption | undefined {
  return (allowed ? ALLOW : REJECT)
    .map((kind) => options.find((option) => option.kind === kind))
    .find((option) => option !== undefined);
}
