import { methods, RequestError } from "@agentclientprotocol/sdk";
import type { IgnoredField } from "../contract/ignored-field.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { type Choice, chooseOptions } from "./plan/choose-options.ts";
import type { SessionPlan } from "./plan/plan-session.ts";
import type { AcpAgent } from "./process/acp-agent.ts";
import { describeFailure, needsLogin } from "./process/agent-failure.ts";

export interface OpenedSession {
  readonly sessionId: string;
  /** All ignored fields, now that the options of the session are known. */
  readonly ignored: readonly IgnoredField[];
  /** Settings that still have to be applied. */
  readonly choices: readonly Choice[];
}

/** ACP's error code for a missing resource. */
const NOT_FOUND = -32002;

export interface ResumedSession {
  readonly sessionId: string;
  /** Whether the session ended on this provider, so that the agent has it. */
  readonly isKnown: boolean;
  /** Maximum number of pages of the agent's session list to read. */
  readonly listedPages: number;
}

/** Creates or resumes a session. */
export async function openSession(
  agent: AcpAgent,
  plan: SessionPlan,
  resumed: ResumedSession | undefined,
): Promise<OpenedSession> {
  try {
    const { sessionId, ...offer } =
      resumed === undefined
        ? await agent.request(methods.agent.session.new, plan.session)
        : { ...(await resumeOrLoad(agent, plan, resumed.sessionId)), sessionId: resumed.sessionId };
    const { choices, ignored } = chooseOptions(plan.choices, offer);
    return { sessionId, ignored: [...plan.ignored, ...ignored], choices };
  } catch (error) {
    if (resumed !== undefined && (await isMissing(agent, resumed, error)))
      throw sessionNotFound(resumed.sessionId, error);
    throw sessionError(agent, error);
  }
}

/** Applies the settings of the plan. */
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
      throw sessionError(agent, error);
    }
  }
}

/** Whether the agent replays the history of a resumed session. */
export function replaysHistory({ capabilities }: AcpAgent): boolean {
  return !capabilities.sessionCapabilities?.resume;
}

/** Resumes without a replay of the history if the agent supports it. */
function resumeOrLoad(
  agent: AcpAgent,
  { session }: SessionPlan,
  sessionId: string,
): Promise<Parameters<typeof chooseOptions>[1]> {
  const method = replaysHistory(agent) ? methods.agent.session.load : methods.agent.session.resume;
  return agent.request(method, { ...session, sessionId });
}

/**
 * Whether a session that the agent refused to load does not exist. Only some agents use the error code for it. For the others
 * the session list decides or, if there is none, whether the error mentions the session id.
 */
async function isMissing(
  agent: AcpAgent,
  { sessionId, isKnown, listedPages }: ResumedSession,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof RequestError) || needsLogin(error)) return false;
  if (error.code === NOT_FOUND || isKnown) return error.code === NOT_FOUND;
  if (!agent.capabilities.sessionCapabilities?.list) return describeFailure(error).includes(sessionId);
  try {
    return !(await isListed(agent, sessionId, listedPages));
  } catch {
    return false;
  }
}

async function isListed(agent: AcpAgent, wanted: string, pages: number): Promise<boolean> {
  let cursor: string | undefined;
  for (let page = 0; page < pages; page += 1) {
    const listed = await agent.request(methods.agent.session.list, cursor === undefined ? {} : { cursor });
    if (listed.sessions.some(({ sessionId }) => sessionId === wanted)) return true;
    cursor = listed.nextCursor ?? undefined;
    if (cursor === undefined) return false;
  }
  throw new Error(`The agent's session list has more than ${pages} pages.`);
}

function sessionNotFound(sessionId: string, cause: unknown): ProviderError {
  const message = `The agent has no session "${sessionId}". It answered: ${describeFailure(cause)}`;
  return new ProviderError("session_not_found", message, { cause });
}

function sessionError(agent: AcpAgent, cause: unknown): ProviderError {
  const why = describeFailure(cause);
  if (needsLogin(cause)) {
    const offer = agent.authMethods.map(({ id, name }) => `"${id}" (${name})`).join(", ") || "none";
    const message = `The agent requires a login: ${why}. Launch the provider with one of these auth methods as authMethod: ${offer}.`;
    return new ProviderError("authentication_failed", message, { cause });
  }
  return new ProviderError("spawn_failed", `The agent could not open the session: ${why}`, { cause });
}
