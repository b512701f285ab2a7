import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { SessionEvent } from "../../src/api/event.ts";
import type { Command, Session } from "../../src/api/session.ts";
import type { CreateSession } from "../../src/api/settings.ts";
import type { DaemonClient } from "../../src/client/client.ts";
import { DaemonClientError } from "../../src/client/errors.ts";
import { reconnectingMessages } from "../../src/client/message-stream.ts";
import type { Fleet } from "./fleet.ts";
import type { FleetNode } from "./fleet-node.ts";

/** Limit of every wait. */
const BOUND_MS = 90_000;
const PAUSE_MS = 50;
/** A session is read again after each of its events, but not more often than every `PAUSE_MS`, and after this time. */
const QUIET_MS = 400;
/** How long a command whose result no reader has received is not read. */
const UNREPORTED_MS = 2_000;

/** A command that a node has acknowledged. */
export interface SentCommand {
  readonly sessionId: string;
  readonly commandId: string;
}

export interface SentMessage extends SentCommand {
  readonly text: string;
}

/** All events that one reader of one session received, in this order. Repeated events are kept. */
export interface ReaderHistory {
  readonly node: string;
  readonly sessionId: string;
  readonly events: SessionEvent[];
}

export interface FleetClientOptions {
  /** Whether each request is sent only to a node whose `/ready` answers 200, as a load balancer does. Default: false. */
  readonly routesByReadiness?: boolean;
  /** Default: the first token of the fleet. */
  readonly token?: string;
  /** Whether readers start again if their cursor is newer than the store, because it was reset. Default: false. */
  readonly restartsReaders?: boolean;
}

/** A client that keeps a history of everything that it received. */
export class FleetClient implements AsyncDisposable {
  readonly fleet: Fleet;
  readonly sessions: Session[] = [];
  readonly sent: SentMessage[] = [];
  readonly compactions: SentCommand[] = [];
  readonly readers: ReaderHistory[] = [];
  /** Refusals and lost connections after which a call was retried. */
  readonly problems: { readonly node: string; readonly code: string }[] = [];
  /** Turns that were reverted, so that the thread no longer contains their items. */
  readonly revertedTurns = new Set<unknown>();
  readonly #token: string;
  readonly #routesByReadiness: boolean;
  readonly #restartsReaders: boolean;
  readonly #closing = new AbortController();
  readonly #reading: Promise<void>[] = [];
  /** Emits the ID of a session when a reader has received one of its events. */
  readonly #received = new EventEmitter().setMaxListeners(0);

  constructor(
    fleet: Fleet,
    { routesByReadiness = false, token = fleet.token, restartsReaders = false }: FleetClientOptions = {},
  ) {
    this.fleet = fleet;
    this.#token = token;
    this.#routesByReadiness = routesByReadiness;
    this.#restartsReaders = restartsReaders;
  }

  async create(session: Partial<CreateSession> = {}, via: FleetNode = this.fleet.node(0)): Promise<Session> {
    const idempotencyKey = randomUUID();
    const body = { cwd: this.fleet.folders.workspace, permissionMode: "bypass", ...session } as const;
    const { session: created } = await this.repeat(via, (client) =>
      client.createSession(body, { idempotencyKey, wait: 10_000 }),
    );
    this.#add(created);
    return created;
  }

  async fork(sessionId: string, via: FleetNode = this.fleet.node(0)): Promise<Session> {
    const idempotencyKey = randomUUID();
    const { id: commandId } = await this.repeat(via, (client) =>
      client.request("POST /sessions/{sessionId}/fork", { params: { sessionId }, body: {}, idempotencyKey }),
    );
    const { result, problem } = await this.finished({ sessionId, commandId });
    const forkId = result?.["sessionId"];
    if (typeof forkId !== "string")
      throw new Error(`The session was not forked: ${JSON.stringify({ result, problem })}`);
    const fork = await this.session(forkId);
    this.#add(fork);
    return fork;
  }

  /** Reverts the turn of a message, which must be the last turn of its session. */
  async revert(sent: SentMessage): Promise<void> {
    const { result } = await this.finished(sent);
    await this.idle(sent.sessionId);
    const turnId = String(result?.["turnId"]);
    this.sent.splice(this.sent.indexOf(sent), 1);
    this.revertedTurns.add(turnId);
    const idempotencyKey = randomUUID();
    const { state } = await this.repeat(this.fleet.node(0), (client) =>
      client.request("POST /sessions/{sessionId}/revert", {
        params: { sessionId: sent.sessionId },
        body: { beforeTurnId: turnId },
        query: { wait: 20_000 },
        idempotencyKey,
      }),
    );
    if (state !== "done") throw new Error(`The turn ${turnId} was not reverted: ${state}.`);
  }

  /** Compacts the context of a session. Returns the command, which has not been carried out yet. */
  async compact(sessionId: string, via: FleetNode = this.fleet.node(0)): Promise<SentCommand> {
    const idempotencyKey = randomUUID();
    const { id } = await this.repeat(via, (client) =>
      client.request("POST /sessions/{sessionId}/compact", { params: { sessionId }, idempotencyKey }),
    );
    const sent = { sessionId, commandId: id };
    this.compactions.push(sent);
    return sent;
  }

  /** Sends a message to one node after the other, beginning with `via`, until a node acknowledges it. */
  async send(sessionId: string, text: string, via: FleetNode = this.fleet.node(0)): Promise<SentMessage> {
    const idempotencyKey = randomUUID();
    const command = await this.repeat(via, (client) => client.send(sessionId, text, { idempotencyKey }));
    const sent = { sessionId, text, commandId: command.id };
    this.sent.push(sent);
    return sent;
  }

  /** Waits until a command is finished. Reads it when a reader receives its result, and from time to time in case none does. */
  async finished({ sessionId, commandId }: SentCommand): Promise<Command> {
    const params = { sessionId, commandId };
    const isResult = (event: SessionEvent): boolean =>
      event.type === "command.finished" && event.commandId === commandId;
    let readAt = performance.now();
    return this.until(
      `the end of the command ${commandId} of ${sessionId}`,
      async () => {
        if (!this.#find(sessionId, isResult) && performance.now() - readAt < UNREPORTED_MS) return undefined;
        readAt = performance.now();
        const command = await this.repeat(this.fleet.node(0), (client) =>
          client.request("GET /sessions/{sessionId}/commands/{commandId}", { params }),
        );
        return command.finishedAt === null ? undefined : command;
      },
      () => this.#nextEvent(sessionId),
    );
  }

  /** Waits for the first matching event that any reader receives or has received. */
  async event(
    sessionId: string,
    matches: (event: SessionEvent) => boolean,
    after = 0,
  ): Promise<SessionEvent> {
    return this.until(
      `an event of ${sessionId}`,
      () => this.#find(sessionId, (event) => event.seq > after && matches(event)),
      () => this.#nextEvent(sessionId),
    );
  }

  /** Waits until every reader of the session has received all of its events. */
  async caughtUp(sessionId: string, lastSeq: number): Promise<void> {
    const behind = (): ReaderHistory[] =>
      this.readers.filter(
        (reader) => reader.sessionId === sessionId && (reader.events.at(-1)?.seq ?? 0) < lastSeq,
      );
    await this.until(
      () =>
        `readers of ${sessionId} to receive event ${lastSeq}: ${behind()
          .map(({ node }) => node)
          .join(", ")}`,
      () => (behind().length === 0 ? true : undefined),
      () => this.#nextEvent(sessionId),
    );
  }

  /** Accepts all open and parked requests of a session. */
  async answerAll(sessionId: string, via: FleetNode = this.fleet.node(0)): Promise<void> {
    for (const state of ["open", "parked"] as const) {
      const { data } = await this.repeat(via, (client) =>
        client.request("GET /inbox", { query: { sessionId, state } }),
      );
      for (const { id } of data) await this.#answer(id, via);
    }
  }

  /** Ignores conflicts: another answer may have arrived first, or the turn may have ended. */
  async #answer(approvalId: string, via: FleetNode): Promise<void> {
    const answer = { type: "decision", offer: "accept" } as const;
    await this.repeat(via, (client) => client.answer(approvalId, answer)).catch((error: unknown) => {
      if (!DaemonClientError.is(error) || error.status !== 409) throw error;
    });
  }

  async session(sessionId: string): Promise<Session> {
    return this.repeat(this.fleet.node(0), (client) =>
      client.request("GET /sessions/{sessionId}", { params: { sessionId } }),
    );
  }

  /** Waits until the session has carried out all commands and is idle. Accepts its requests in the meantime. */
  async idle(sessionId: string): Promise<Session> {
    let last: Session | undefined;
    return this.until(
      () => `${sessionId} to be idle. The session: ${JSON.stringify(last)}`,
      async () => {
        last = await this.session(sessionId);
        if (last.phase === "waiting" || last.phase === "parked") await this.answerAll(sessionId);
        const isIdle = last.phase === "idle" && last.activeTurnId === null;
        return isIdle && this.#haveResults(sessionId) ? last : undefined;
      },
      async () => {
        await delay(PAUSE_MS);
        await this.#nextEvent(sessionId);
      },
    );
  }

  /** Retries a call on one node after the other as long as it fails with a temporary error. */
  async repeat<Value>(via: FleetNode, call: (client: DaemonClient) => Promise<Value>): Promise<Value> {
    const { nodes } = this.fleet;
    let attempt = nodes.indexOf(via);
    return this.until(
      () => `an answer. Problems: ${JSON.stringify(this.problems.slice(-5))}`,
      async () => {
        const node = nodes[attempt++ % nodes.length] ?? via;
        if (this.#routesByReadiness && !(await isReady(node))) return undefined;
        try {
          return { value: await call(this.fleet.client(node, this.#token)) };
        } catch (error) {
          this.problems.push({ node: node.name, code: retryable(error) });
          return undefined;
        }
      },
    ).then(({ value }) => value);
  }

  async until<Value>(
    what: string | (() => string),
    look: () => Value | undefined | Promise<Value | undefined>,
    pause: () => Promise<void> = async () => delay(PAUSE_MS),
  ): Promise<Value> {
    for (const end = performance.now() + BOUND_MS; performance.now() < end; await pause()) {
      const value = await look();
      if (value !== undefined) return value;
    }
    const logs = this.fleet.nodes.map(
      ({ name, log }) =>
        `${name}:\n${log
          .slice(-15)
          .map((line) => line.slice(0, 300))
          .join("\n")}`,
    );
    throw new Error(
      `Waited for ${BOUND_MS} ms for ${typeof what === "string" ? what : what()}\n${logs.join("\n")}`,
    );
  }

  /** All events, read from the store by one node. */
  async storedEvents(sessionId: string): Promise<readonly SessionEvent[]> {
    const { lastSeq } = await this.session(sessionId);
    const node = this.fleet.nodes.find(({ isRunning }) => isRunning) ?? this.fleet.node(0);
    const events: SessionEvent[] = [];
    const signal = AbortSignal.timeout(BOUND_MS);
    for await (const event of messagesOf(sessionId, node, { signal, token: this.#token })) {
      events.push(event);
      if (event.seq >= lastSeq) return events;
    }
    throw new Error(`The node ${node.name} sent ${events.length} of ${lastSeq} events of ${sessionId}.`);
  }

  /** Ends the readers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#reading);
  }

  /** Whether readers have received the results of all commands of the session. */
  #haveResults(sessionId: string): boolean {
    const own = [...this.sent, ...this.compactions].filter((command) => command.sessionId === sessionId);
    return own.every(({ commandId }) =>
      this.#find(sessionId, (event) => event.type === "command.finished" && event.commandId === commandId),
    );
  }

  /** The first matching event that any reader has received. */
  #find(sessionId: string, matches: (event: SessionEvent) => boolean): SessionEvent | undefined {
    for (const reader of this.readers) {
      const found = reader.sessionId === sessionId ? reader.events.find(matches) : undefined;
      if (found) return found;
    }
    return undefined;
  }

  /** Resolves when a reader receives an event of the session, or after a while without one. */
  async #nextEvent(sessionId: string): Promise<void> {
    const ended = new AbortController();
    const { signal } = ended;
    await Promise.race([once(this.#received, sessionId, { signal }), delay(QUIET_MS, undefined, { signal })]);
    ended.abort();
  }

  #add(session: Session): void {
    this.sessions.push(session);
    for (const node of this.fleet.nodes) this.#read(node, session.id);
  }

  #read(node: FleetNode, sessionId: string): void {
    const reader: ReaderHistory = { node: node.name, sessionId, events: [] };
    this.readers.push(reader);
    const read = async (): Promise<void> => {
      const options = { signal: this.#closing.signal, token: this.#token };
      for await (const event of messagesOf(sessionId, node, options)) {
        reader.events.push(event);
        this.#received.emit(sessionId);
      }
    };
    const readAgain = async (error: unknown): Promise<void> => {
      const isReset = DaemonClientError.is(error) && error.code === "invalid_cursor";
      if (!this.#restartsReaders || !isReset) throw error;
      return read();
    };
    const reading = read().catch(readAgain);
    reading.catch(() => {}); // Reported when the client is disposed of.
    this.#reading.push(reading);
  }
}

async function isReady({ url }: FleetNode): Promise<boolean> {
  return fetch(`${url}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Yields every event that a node sends, including repeated events. */
async function* messagesOf(
  sessionId: string,
  node: FleetNode,
  { signal, token }: { readonly signal: AbortSignal; readonly token: string },
): AsyncGenerator<SessionEvent> {
  let last = 0;
  const connect = async (ended: AbortSignal): Promise<Response> =>
    fetch(`${node.url}/sessions/${sessionId}/events?after=${last}`, {
      signal: ended,
      headers: { accept: "text/event-stream", authorization: `Bearer ${token}` },
    });
  for await (const messages of reconnectingMessages(connect, { signal, maxDelayMs: 300, idleMs: 20_000 })) {
    for (const { data } of messages) {
      const event = JSON.parse(data) as SessionEvent;
      last = event.seq;
      yield event;
    }
  }
}

/** The code of a temporary error, after which a client may retry the call. Throws all other errors. */
function retryable(error: unknown): string {
  if (DaemonClientError.is(error)) {
    if (error.status === 503 || error.status === 429 || error.status === 502) return error.code;
    throw error;
  }
  // `fetch` rejects with it if the connection fails.
  if (error instanceof TypeError) return "connection";
  throw error;
}
