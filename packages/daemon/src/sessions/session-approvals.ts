import { type PolicyEvaluation, type Policy } from "@codexkit/approvals";
import {
  type AnyApproval,
  type AnyDecision,
  type ApprovalResolvedEvent,
  CodexError,
  type ElicitationAnswer,
  type HandlerContext,
  type McpElicitationRequest,
  policyHandlers,
  type QuestionResolvedEvent,
  type RequestId,
  type ServerRequestHandlers,
  type UserInputAnswers,
} from "codexkit";
import { raceAbort, SerialQueue } from "@codexkit/rpc/async";
import { setTimeout as delay } from "node:timers/promises";
import type { InboxAnswer } from "../api/approval.ts";
import { outlastOutage } from "../database/outage.ts";
import type { ApprovalRow, TurnRow } from "../database/tables.ts";
import { ExpiryTimer } from "../inbox/expiry-timer.ts";
import type { NewApproval } from "../inbox/new-approval.ts";
import type { ParkedInbox } from "../inbox/parked-inbox.ts";
import { decisionFor, offersFor } from "../policy/offers.ts";
import { toolAnswer } from "../policy/repeated-tool.ts";
import {
  type AnyRequest,
  callIdOf,
  fingerprintOf,
  toInboxRequest,
  toVerdict,
} from "../policy/to-inbox-request.ts";
import { toItemId } from "./item-id.ts";
import { RepeatedTools, type RepeatedToolsDeps } from "./repeated-tools.ts";

export interface SessionApprovalsDeps extends RepeatedToolsDeps {
  readonly parked: ParkedInbox;
  readonly cwd: string;
  readonly approvalMs: number;
  /** Returns the current policy, and whether a person may be asked. */
  readonly policy: () => { readonly policy: Policy; readonly mayAsk: boolean };
  /** Length of the thread's rollout file. */
  readonly rolloutBytes: (threadId: string) => number | undefined;
  /** The session's own thread. */
  readonly rootThreadId: () => string | undefined;
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

/** A request on the current connection. */
interface Asked {
  /** Resolves when the event of the request was handed to the journal. */
  readonly published: PromiseWithResolvers<void>;
  fingerprint?: string;
  /** Set while the entry is being stored and afterwards. */
  opening?: Promise<ApprovalRow>;
  approvalId?: string;
  /** Aborts with the request. */
  signal?: AbortSignal;
}

/** How long to wait for requests that Codex sends again. It takes seconds on a busy machine. */
const REPETITION_TIMEOUT_MS = 20_000;
const REPETITION_INTERVAL_MS = 50;

/** How long parking waits for entries that are being stored. */
const OPENING_TIMEOUT_MS = 5_000;

/** The longest timer, because the inbox has its own expiry. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Answers the server requests of a session and its agents: by the policy if it decides, otherwise through the inbox. An answer is
 * delivered once. It may have been given during an earlier boot, after which Codex repeated its request.
 */
export class SessionApprovals {
  readonly handlers: ServerRequestHandlers;
  /** Receives the starts and ends of turns, in the order of the events. */
  readonly repeatedTools: RepeatedTools;
  readonly #deps: SessionApprovalsDeps;
  readonly #asked = new Map<RequestId, Asked>();
  /**
   * IDs of the entries that belong to requests on the current connection, until their end is stored. No other request gets their
   * answers.
   */
  readonly #taken = new Set<string>();
  readonly #opening = new SerialQueue();
  readonly #submitting = new Set<Promise<unknown>>();
  /** While set, no answer is sent to Codex until it resolves. */
  #gate: PromiseWithResolvers<void> | undefined;

  constructor(deps: SessionApprovalsDeps) {
    this.#deps = deps;
    this.repeatedTools = new RepeatedTools(deps);
    this.handlers = {
      approve: (approval, context) => this.#approve(approval, context),
      userInput: async (request, context) => this.#toAnswers(await this.#ask(request, context)),
      elicitation: (request, context) => this.#elicit(request, context),
    };
  }

  /** Number of requests that wait for a person. */
  get openCount(): number {
    return [...this.#asked.values()].filter(({ opening }) => opening !== undefined).length;
  }

  /** Call after the event of a request was appended, so that the inbox entry follows it. */
  published(requestId: RequestId): void {
    this.#entry(requestId).published.resolve();
  }

  /** Call with the end of each request, in the order of the events. Records the outcome in the inbox entry. */
  resolved({ requestId, outcome }: ApprovalResolvedEvent | QuestionResolvedEvent): void {
    const { approvalId, opening } = this.#asked.get(requestId) ?? {};
    this.#asked.delete(requestId);
    const { inbox, owner } = this.#deps;
    const note = outcome.reason ?? outcome.by;
    if (approvalId === undefined) {
      // The request ended while its entry was being stored. Nothing would ever close it.
      opening?.then(
        ({ id }) => this.#close(id, () => inbox.withdraw(owner, id, note)),
        () => {},
      );
      return;
    }
    const store = (): Promise<void> =>
      outcome.by === "handler"
        ? inbox.delivered(owner, approvalId)
        : inbox.withdraw(
            owner,
            approvalId,
            outcome.by === "otherClient" ? "Answered by another client." : note,
          );
    this.#close(approvalId, store);
  }

  /** Whether a request ended with its connection. Codex may ask again on the next one. */
  isLost(requestId: RequestId): boolean {
    const reason: unknown = this.#asked.get(requestId)?.signal?.reason;
    return reason !== undefined && !(CodexError.is(reason) && reason.code === "aborted");
  }

  /** Stops sending answers to Codex. Resolves when it is known which answers were sent. */
  async pause(): Promise<void> {
    this.#gate ??= Promise.withResolvers();
    const opening = [...this.#asked.values()].flatMap((asked) => asked.opening ?? []);
    // Without a limit, an outage of the store would also stop a shutdown.
    await raceAbort(Promise.allSettled(opening), AbortSignal.timeout(OPENING_TIMEOUT_MS)).catch(() => {});
    await Promise.allSettled(this.#submitting);
  }

  resume(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  /** Forgets the requests of a lost connection. Their inbox entries stay, because Codex may ask again. */
  disconnected(): void {
    this.#asked.clear();
    this.#taken.clear();
    this.repeatedTools.disconnected();
    this.resume();
  }

  /** Returns the entries of this session whose process waits for an answer or has not confirmed it. */
  async undelivered(): Promise<readonly ApprovalRow[]> {
    const { inbox, owner } = this.#deps;
    const query = { sessionId: owner.sessionId, limit: 200 };
    const { rows } = await inbox.list({ ...query, state: ["open", "answered"] });
    return rows.filter(({ parked_at: parkedAt }) => parkedAt === null);
  }

  /**
   * Closes the entries of this session whose request no longer exists, although its turn continues. Codex may repeat open requests
   * at any time after the thread was resumed, so requests of a thread that waits for a person may still arrive.
   *
   * @param isWaiting Whether Codex reports that a thread waits for a person.
   */
  async closeStale(isWaiting: (threadId: string) => Promise<boolean>): Promise<void> {
    const { inbox, owner } = this.#deps;
    const limit = AbortSignal.timeout(REPETITION_TIMEOUT_MS);
    for (const row of await this.undelivered()) {
      const { id, fingerprint, thread_id: threadId, submitted_at: submittedAt } = row;
      // If the answer was sent, Codex may already have acted on it.
      const mayFollow = async (): Promise<boolean> =>
        submittedAt === null && !limit.aborted && (await isWaiting(threadId));
      while (!(await this.#isAsked(fingerprint)) && (await mayFollow())) await delay(REPETITION_INTERVAL_MS);
      if (await this.#isAsked(fingerprint)) continue;
      if (submittedAt !== null) await inbox.delivered(owner, id);
      else await inbox.withdraw(owner, id, "Codex no longer waits for the answer.");
    }
  }

  get #fingerprints(): ReadonlySet<string | undefined> {
    return new Set([...this.#asked.values()].map(({ fingerprint }) => fingerprint));
  }

  /** Whether a request was sent on the current connection. */
  async #isAsked(fingerprint: string): Promise<boolean> {
    await this.repeatedTools.searched();
    return this.#fingerprints.has(fingerprint);
  }

  /**
   * Closes the entries whose turn has ended. The former owner may have stored the end of a turn, but not yet that of its requests.
   * Call it for a session at rest: otherwise, its requests may have to be parked.
   */
  async closeEnded(turns: () => Promise<ReadonlyMap<string, Pick<TurnRow, "status">>>): Promise<void> {
    const { inbox, owner } = this.#deps;
    const rows = await this.undelivered();
    if (rows.length === 0) return;
    const known = await turns();
    for (const { id, turn_id: turnId, submitted_at: submittedAt } of rows) {
      const { status = "running" } = known.get(turnId ?? "") ?? {};
      if (status === "running") continue;
      if (submittedAt !== null) await inbox.delivered(owner, id);
      else await inbox.withdraw(owner, id, "The turn has ended.");
    }
  }

  /** Withdraws all entries of this session. */
  async withdrawAll(note: string): Promise<void> {
    const { inbox, owner } = this.#deps;
    const query = { sessionId: owner.sessionId, limit: 200 };
    const { rows } = await inbox.list({ ...query, state: ["open", "answered", "parked"] });
    for (const { id } of rows) await inbox.withdraw(owner, id, note);
  }

  async #elicit(request: McpElicitationRequest, context: HandlerContext): Promise<ElicitationAnswer> {
    const asked = this.#entry(context.requestId);
    const row = await this.repeatedTools.findEntry(request, {
      undelivered: outlastOutage(() => this.undelivered(), context.signal),
      asked: () => this.#fingerprints,
      onFound: ({ fingerprint }) => {
        asked.fingerprint = fingerprint;
      },
    });
    await raceAbort(asked.published.promise, context.signal);
    const approval = row
      ? undefined
      : await outlastOutage(() => this.repeatedTools.findCall(request), context.signal);
    if (!approval) return this.#toElicitation(await this.#ask(request, context));
    const { decision } = await this.#approve(approval, context);
    return toolAnswer(typeof decision === "string" ? decision : "decline");
  }

  async #approve(
    approval: AnyApproval,
    context: HandlerContext,
  ): Promise<{ decision: AnyDecision; reason?: string }> {
    this.#entry(context.requestId).fingerprint = fingerprintOf(approval);
    const { policy, mayAsk } = this.#deps.policy();
    let chosen: { decision: AnyDecision; reason?: string } | undefined;
    const ask = async ({
      evaluation,
    }: {
      evaluation: PolicyEvaluation;
    }): Promise<{ decision: "allow" | "deny" }> => {
      const answer = await this.#ask(approval, context, evaluation);
      chosen =
        answer === undefined
          ? { decision: "decline", reason: "No answer arrived in time." }
          : {
              decision: decisionFor(approval, answer),
              ...(answer.type === "decision" && answer.reason !== undefined ? { reason: answer.reason } : {}),
            };
      // The person's own decision, which is more specific than allow or deny, is returned below.
      return { decision: "deny" };
    };
    const { approve } = policyHandlers(policy, {
      cwd: this.#deps.cwd,
      timeoutMs: NO_TIMEOUT_MS,
      ...(mayAsk ? { ask } : {}),
    });
    const judged = (await approve(approval, context)) as { decision: AnyDecision; reason?: string };
    return chosen ?? judged;
  }

  /** Opens an inbox entry and waits for its answer. Undefined if it expired. */
  async #ask(
    request: AnyRequest,
    { requestId, signal }: HandlerContext,
    evaluation?: PolicyEvaluation,
  ): Promise<InboxAnswer | undefined> {
    const { approvalMs, rolloutBytes, onChange } = this.#deps;
    const asked = this.#entry(requestId);
    asked.signal = signal;
    const fingerprint = (asked.fingerprint ??= fingerprintOf(request));
    await raceAbort(asked.published.promise, signal);
    const bytes = rolloutBytes(request.threadId);
    const rootThreadId = this.#deps.rootThreadId();
    const rootBytes =
      rootThreadId === undefined || rootThreadId === request.threadId
        ? undefined
        : rolloutBytes(rootThreadId);
    const itemId = "itemId" in request ? request.itemId : undefined;
    const callId = callIdOf(request);
    const opened: NewApproval = {
      threadId: request.threadId,
      ...(request.turnId === null ? {} : { turnId: request.turnId }),
      ...(itemId === undefined ? {} : { itemId: toItemId(itemId) }),
      ...(callId === undefined ? {} : { callId }),
      requestId,
      kind: request.kind,
      fingerprint,
      request: toInboxRequest(request),
      ...(evaluation ? { verdict: toVerdict(evaluation) } : {}),
      offers: isApproval(request) ? offersFor(request).map(({ decision: _wire, ...offer }) => offer) : [],
      ...(Number.isFinite(approvalMs) ? { expiresInMs: approvalMs } : {}),
      ...(bytes === undefined ? {} : { rolloutBytes: bytes }),
      ...(rootBytes === undefined ? {} : { rootBytes }),
    };
    // Waits for the end of an outage of the store. Otherwise, Codex would receive a decline.
    asked.opening = outlastOutage(() => this.#openEntry(opened), signal);
    const approval = await asked.opening;
    asked.approvalId = approval.id;
    onChange();
    const row = await this.#waitForAnswer(approval, signal);
    while (this.#gate) await raceAbort(this.#gate.promise, signal);
    // A parked request is no longer answered here, because its process is about to end.
    if (row.state !== "withdrawn" && !(await this.#recordSubmission(approval.id))) {
      await raceAbort(new Promise<never>(() => {}), signal);
    }
    return answerOf(row);
  }

  /** The time limit of a repeated request is that of its entry, which may be older than this process. */
  async #waitForAnswer(
    { id, expires_at: expiresAt }: ApprovalRow,
    signal: AbortSignal,
  ): Promise<ApprovalRow> {
    const { inbox } = this.#deps;
    using _expiry = expiresAt === null ? undefined : new ExpiryTimer(expiresAt, () => this.#expire());
    return await outlastOutage(() => inbox.waitForAnswer(id, { signal }), signal);
  }

  /** Opens entries one at a time, so that identical requests get separate entries. */
  async #openEntry(asked: NewApproval): Promise<ApprovalRow> {
    const { inbox, owner } = this.#deps;
    return this.#opening.run(async () => {
      const { approval } = await inbox.open(owner, asked, { taken: this.#taken });
      this.#taken.add(approval.id);
      return approval;
    });
  }

  /** Stores the end of a request. */
  #close(approvalId: string, store: () => Promise<void>): void {
    const { onChange, onError } = this.#deps;
    outlastOutage(store)
      .finally(() => this.#taken.delete(approvalId))
      .then(onChange, onError);
  }

  async #recordSubmission(approvalId: string): Promise<boolean> {
    const submitted = this.#deps.parked.recordSubmission(this.#deps.owner, approvalId);
    this.#submitting.add(submitted);
    try {
      return await submitted;
    } finally {
      this.#submitting.delete(submitted);
    }
  }

  async #expire(): Promise<void> {
    const { inbox, owner, onError } = this.#deps;
    await inbox.expire(owner).catch(onError);
  }

  #entry(requestId: RequestId): Asked {
    let asked = this.#asked.get(requestId);
    if (!asked) this.#asked.set(requestId, (asked = { published: Promise.withResolvers() }));
    return asked;
  }

  #toAnswers(answer: InboxAnswer | undefined): UserInputAnswers {
    return answer?.type === "answers" ? answer.answers : {};
  }

  #toElicitation(answer: InboxAnswer | undefined): ElicitationAnswer {
    if (answer?.type === "decision") return toolAnswer(answer.offer);
    if (answer?.type !== "elicitation") return "decline";
    const { action, content } = answer;
    return content === undefined ? { action } : { action, content };
  }
}

function isApproval(request: AnyRequest): request is AnyApproval {
  return request.kind !== "userInput" && request.kind !== "elicitation";
}

function answerOf({ state, answer }: ApprovalRow): InboxAnswer | undefined {
  if (answer === null || state === "expired" || state === "withdrawn") return undefined;
  return JSON.parse(answer) as InboxAnswer;
}
