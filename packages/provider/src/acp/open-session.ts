import { methods, RequestError } from "@agentclientprotocol/sdk";
import type { IgnoredField } from "../contract/ignored-field.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { type Choice, chooseOptions } from "./plan/choose-options.ts";
import type { SessionPlan } from "./plan/plan-session.ts";
import type { AcpAgent } from "./process/acp-agent.ts";

export interface OpenedSession {
  readonly sessionId: string;
  /** All that is ignored, now that it is known what the session offers. */
  readonly ignored: readonly IgnoredField[];
  /** What is left to be told to the session. */
  readonly choices: readonly Choice[];
}

/** ACP's code for what a request names and the agent does not have. */
const NOT_FOUND = -32002;

/** Makes a session, or takes one up again. */
export async function openSession(
  agent: AcpAgent,
  plan: SessionPlan,
  resumed: string | undefined,
): Promise<OpenedSession> {
  try {
    const { sessionId, ...offer } =
      resumed === undefined
        ? await agent.request(methods.agent.session.new, plan.session)
        : { ...(await takeUp(agent, plan, resumed)), sessionId: resumed };
    const { choices, ignored } = chooseOptions(plan.wishes, offer);
    return { sessionId, ignored: [...plan.ignored, ...ignored], choices };
  } catch (error) {
    throw sessionError(error, resumed);
  }
}

/** Has a session be as its plan wishes. */
export async function configureSession(
  agent: AcpAgent,
  { sessionId, choices }: OpenedSession,
): Promise<void> {
  for (const choice of choices) {
    try {
      if (choice.method === "mode") {
        await agent.request(methods.agent.session.setMode, { sessionId, modeId: choice.modeId });
        continue;
      }
      const { configId, value } = choice;
      await agent.request(
        methods.agent.session.setConfigOption,
        typeof value === "boolean"
          ? { sessionId, configId, type: "boolean", value }
          : { sessionId, configId, value },
      );
    } catch (error) {
      throw sessionError(error, undefined);
    }
  }
}

/** Without its past being told again, if the agent can do that. */
function takeUp(
  agent: AcpAgent,
  { session }: SessionPlan,
  sessionId: string,
): Promise<Parameters<typeof chooseOptions>[1]> {
  const method = agent.capabilities.sessionCapabilities?.resume
    ? methods.agent.session.resume
    : methods.agent.session.load;
  return agent.request(method, { ...session, sessionId });
}

function sessionError(error: unknown, resumed: string | undefined): ProviderError {
  const message = error instanceof Error ? error.message : String(error);
  const lost = resumed !== undefined && error instanceof RequestError && error.code === NOT_FOUND;
  return lost
    ? new ProviderError("session_not_found", `The agent has no session "${resumed}" to resume.`, {
        cause: error,
      })
    : new ProviderError("spawn_failed", `The agent did not open the session: ${message}`, { cause: error });
}
