import type { Problem } from "../api/problem.ts";
import type { ClaimedSession, Ownership } from "../database/ownership.ts";
import { sessionPolicy } from "../policy/test-command.ts";
import { SecretMask } from "../secrets/secret-mask.ts";
import { AcceptedMessages } from "./accepted-messages.ts";
import { AgentRollouts } from "./agent-rollouts.ts";
import { executeCommand } from "./command-executor.ts";
import { CommandQueue } from "./command-queue.ts";
import { InterruptedTurn } from "./interrupted-turn.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import { RolloutShipper } from "./rollout-shipper.ts";
import { SessionApprovals } from "./session-approvals.ts";
import { SessionCommands } from "./session-commands.ts";
import type { SessionDeps } from "./session-deps.ts";
import { SessionEvents, type SessionEventsDeps } from "./session-events.ts";
import { SessionParking } from "./session-parking.ts";
import { parseState, type SessionState } from "./session-state.ts";
import { SessionThread } from "./session-thread.ts";
import { ThreadLoader } from "./thread-loader.ts";
import type { ThreadListener } from "./thread-routes.ts";
import { UsageLimits } from "./usage-limits.ts";

/** What the parts of a session need of its owner. */
export interface SessionHooks {
  readonly listener: ThreadListener;
  readonly isBusy: () => boolean;
  readonly isStopped: () => boolean;
  readonly mayRetry: () => boolean;
  readonly load: () => Promise<LoadedThread>;
  readonly interrupt: () => Promise<void>;
  readonly explain: (error: unknown) => Promise<Problem>;
  readonly wake: () => void;
  readonly onTurnEnd: SessionEventsDeps["onTurnEnd"];
  readonly onLimitReached: (problem: Problem) => void;
  readonly onEventsLost: (error: unknown) => void;
  readonly onLoadFailed: (error: unknown) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly onWarning: (error: unknown, message: string) => void;
}

/** The parts of a session that a node owns, connected to each other. */
export interface SessionParts {
  readonly owner: Ownership;
  readonly state: SessionState;
  readonly events: SessionEvents;
  readonly approvals: SessionApprovals;
  readonly accepted: AcceptedMessages;
  readonly limits: UsageLimits;
  readonly rollouts: RolloutShipper;
  readonly agents: AgentRollouts;
  readonly thread: SessionThread;
  readonly parking: SessionParking;
  readonly interrupted: InterruptedTurn;
  readonly queue: CommandQueue;
}

export function createSessionParts(
  { session, reason, previousNode, sessionId, nodeId, epoch }: ClaimedSession,
  deps: SessionDeps,
  hooks: SessionHooks,
): SessionParts {
  const { database, codexHome } = deps;
  const { load, isBusy, onError, onWarning } = hooks;
  const state = parseState(session);
  const mask = SecretMask.of(state.setup);
  const owner: Ownership = { sessionId, nodeId, epoch, ...(mask && { mask }) };
  const accepted = new AcceptedMessages();
  const limits = new UsageLimits(hooks.onLimitReached);
  if (session.usage !== null && state.threadId !== undefined) {
    limits.add(state.threadId, JSON.parse(session.usage));
  }
  limits.update(state.settings);
  const rollouts = new RolloutShipper(database.rollouts, owner, codexHome);
  const agents = new AgentRollouts({
    state,
    rollouts,
    store: database.rollouts,
    onLines: (step) => events.append([], step),
    onWarning,
  });
  const approvals = new SessionApprovals({
    inbox: database.inbox,
    parked: database.parked,
    owner,
    cwd: state.cwd,
    approvalMs: deps.limits.approvalMs,
    policy: () => ({
      policy: sessionPolicy(state.settings, state.cwd, parking.rules),
      mayAsk: state.settings.approvalPolicy !== "never" && state.settings.agentMode !== "chat",
    }),
    rolloutBytes: (threadId) => rollouts.bytes(threadId),
    rollout: (threadId) => rollouts.contents(threadId),
    rootThreadId: () => state.threadId,
    onChange: deps.onChange,
    onError,
  });
  const events = new SessionEvents({
    owner,
    state,
    journal: database.journal,
    rollouts,
    agents,
    approvals,
    accepted,
    limits,
    onTurnStart: deps.onChange,
    onTurnEnd: hooks.onTurnEnd,
    onError: hooks.onEventsLost,
  });
  const loader = new ThreadLoader({
    session: deps,
    owner,
    state,
    events,
    approvals,
    rollouts,
    agents,
    listener: hooks.listener,
    isNodeLost: reason === "node_lost",
    isForeign: previousNode !== null && previousNode !== deps.nodeName,
    isDelivering: () => parking.isDelivering,
    onParked: () => parking.requests.changed(),
  });
  const thread = new SessionThread({
    loader,
    beforeLoad: () => parking.loadRules(),
    onFailure: hooks.onLoadFailed,
  });
  const parking = new SessionParking({
    session: deps,
    owner,
    state,
    rollouts,
    agents,
    approvals,
    thread,
    load,
    isBusy,
    ignoreEvents: () => deps.threads.ignore(hooks.listener),
    onParked: hooks.wake,
    onWarning,
  });
  const commands = new SessionCommands({
    session: deps,
    owner,
    state,
    thread,
    loader,
    load,
    interrupt: hooks.interrupt,
    queue: () => queue,
    accepted,
    approvals,
    parking,
    limits,
    rollouts,
    onWarning,
  });
  const interrupted = new InterruptedTurn({
    database,
    owner,
    state,
    codexHome,
    thread: () => thread.loaded?.thread,
  });
  const queue = new CommandQueue({
    owner,
    commands: database.commands,
    execute: (command) => executeCommand(command, commands),
    explain: hooks.explain,
    mayRetry: hooks.mayRetry,
    isStopped: hooks.isStopped,
    onChange: hooks.wake,
    onError,
  });
  return {
    owner,
    state,
    events,
    approvals,
    accepted,
    limits,
    rollouts,
    agents,
    thread,
    parking,
    interrupted,
    queue,
  };
}
