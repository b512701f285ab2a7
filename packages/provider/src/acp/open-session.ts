import { methods, RequestError } from "@agentclientprotocol/sdk";
import type { IgnoredField } from "../contract/ignored-field.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { type Choice, chooseOptions } from "./plan/choose-options.ts";
import type { SessionPlan } from "./plan/plan-session.ts";
import type { AcpAgent } from "./process/acp-agent.ts";
import { describeFailure, needsLogin } from "./process/describe-failure.ts";

export interface OpenedSession {
  readonly sessionId: string;
  /** All that is ignored, now that it is known what the session offers. */
  readonly ignored: readonly IgnoredField[];
  /** What is left to be told to the session. */
  readonly choices: readonly Choice[];
}

/** ACP's code for a resource that the agent does not have. */
const NOT_FOUND = -32002;

export interface ResumedSession {
  readonly sessionId: string;
  /** It ended here, so that the agent does have it. */
  readonly isKnown: boolean;
  /** How much of the agent's list of sessions is read. */
  readonly listedPages: number;
}

/** Makes a session, or takes one up again. */
export async function openSession(
  agent: AcpAgent,
  plan: SessionPlan,
  resumed: ResumedSession | undefined,
): Promise<OpenedSession> {
  try {
    const { sessionId, ...offer } =
      resumed === undefined
        ? await agent.request(methods.agent.session.new, plan.session)
        : { ...(await takeUp(agent, plan, resumed.sessionId)), sessionId: resumed.sessionId };
    const { choices, ignored } = chooseOptions(plan.wishes, offer);
    return { sessionId, ignored: [...plan.ignored, ...ignored], choices };
  } catch (error) {
    if (resumed !== undefined && (await isMissing(agent, resumed, error)))
      throw sessionNotFound(resumed.sessionId, error);
    throw sessionError(agent, error);
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
      throw sessionError(agent, error);
    }
  }
}

/** Whether the agent replays the past of a session that it takes up. */
export function replaysPast({ capabilities }: AcpAgent): boolean {
  return !capabilities.sessionCapabilities?.resume;
}

/** Without its past being told again, if the agent can do that. */
function takeUp(
  agent: AcpAgent,
  { session }: SessionPlan,
  sessionId: string,
): Promise<Parameters<typeof chooseOptions>[1]> {
  const method = replaysPast(agent) ? methods.agent.session.load : methods.agent.session.resume;
  return agent.request(method, { ...session, sessionId });
}

/**
 * Whether the agent does not have a session that it refused to load. Only some agents answer with the code for it; of the
 * others, the list of sessions decides, or that the error names the session if the agent has no list.
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
  throw new Error(`The agent's list of sessions has more than ${pages} pages.`);
}

function sessionNotFound(sessionId: string, cause: unknown): ProviderError {
  const message = `The agent has no session "${sessionId}" to resume. It answered: ${describeFailure(cause)}`;
  return new ProviderError("session_not_found", message, { cause });
}

function sessionError(agent: AcpAgent, cause: unknown): ProviderError {
  const why = describeFailure(cause);
  if (needsLogin(cause)) {
    const offer = agent.authMethods.map(({ id, name }) => `"${id}" (${name})`).join(", ") || "none";
    const message = `The agent needs a login: ${why}. Launch the provider with one of its auth methods as authMethod: ${offer}.`;
    return new ProviderError("authentication_failed", message, { cause });
  }
  return new ProviderError("spawn_failed", `The agent did not open the session: ${why}`, { cause });
}
