import type { ServerLimits } from "../limits.ts";
import {
  type CallContext,
  checkedParams,
  LargeResult,
  type Method,
  type MethodTable,
} from "../session/method.ts";
import type { Session } from "../session/session.ts";
import type { EpochClaim, EpochFence } from "../session/epoch-fence.ts";
import type { SessionStore } from "../session/session-store.ts";
import { type Incoming, readIncoming } from "../wire/incoming.ts";
import { CODES, Refusal } from "../wire/refusal.ts";
import { Handshake } from "./handshake.ts";
import type { MessageWriter } from "./message-writer.ts";

/** The reading side of a connection. */
export interface Inlet {
  pause(): void;
  resume(): void;
  /** Closes the connection without an answer, as Codex's server does after a protocol violation. */
  cut(): void;
}

export interface ConnectionOptions {
  readonly methods: (onEnd: (release: () => void) => void) => MethodTable;
  readonly sessions: SessionStore;
  readonly fence: EpochFence;
  readonly info: unknown;
  readonly concurrentRequests: number;
  /** Whether a session can be resumed on another connection. If not, it ends with its connection. */
  readonly resumable: boolean;
  readonly limits: ServerLimits;
  /** The largest message that the client can receive. Unlimited by default. */
  readonly longestMessageBytes?: number;
  /** The epoch claim of the client's token. */
  readonly claim?: EpochClaim | undefined;
}

/** Maximum number of bytes after the base64 of a large result. */
const CLOSING_BYTES = 64;

type Request = Extract<Incoming, { kind: "request" }>;

/**
 * The connection of one client. Parses messages, schedules requests by lane, and answers each exactly once.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #limits: ServerLimits;
  readonly #inlet: Inlet;
  readonly #writer: MessageWriter;
  readonly #methods: MethodTable;
  readonly #handshake: Handshake;
  readonly #ending = new AbortController();
  readonly #releases: (() => void)[] = [];
  readonly #waiting: Request[] = [];
  #running = 0;
  #readingStopped = false;
  #context: CallContext | undefined;
  #flow: PromiseWithResolvers<void> | undefined;

  constructor(inlet: Inlet, writer: MessageWriter, options: ConnectionOptions) {
    this.#inlet = inlet;
    this.#writer = writer;
    this.#options = options;
    this.#limits = options.limits;
    this.#handshake = new Handshake(options.sessions, writer, options.info, options.claim?.subject);
    this.#methods = options.methods((release) => this.#releases.push(release));
  }

  /**
   * Disconnects the connections that the client's epoch replaces. Returns false if this connection has itself
   * been replaced, and is now closed.
   */
  join(): boolean {
    const { claim, fence } = this.#options;
    if (!claim) return true;
    const leave = fence.admit(claim, () => {
      // First, so that no further messages are processed and a successor can resume the session at once.
      this.ended();
      this.#inlet.cut();
    });
    if (leave) this.#releases.push(leave);
    else this.ended();
    return leave !== undefined;
  }

  receive(bytes: Buffer): void {
    if (this.#ending.signal.aborted) return;
    const message = readIncoming(bytes);
    switch (message.kind) {
      case "request":
        this.#request(message);
        break;
      case "notification":
        if (!this.#handshake.notified(message.method)) this.#inlet.cut();
        break;
      case "answer":
        // A response without a request violates the protocol.
        if (this.#handshake.session?.questions.answer(message.id, message.result) !== true) this.#inlet.cut();
        break;
      case "malformed":
        this.receiveMalformed(message.problem);
    }
    this.#restrain();
  }

  /** Responds to data that is not a message. The connection stays open. */
  receiveMalformed(problem: string): void {
    this.#refuse("-1", CODES.invalidRequest, `failed to parse JSON-RPC message: ${problem}`);
  }

  /** Called when more can be sent. Resumes the children and requests that waited for it. */
  relieved(): void {
    this.#handshake.session?.processes.resumeAll();
    this.#resumeFlow();
    this.#runWaiting();
    this.#resumeReading();
  }

  /** Called when the connection has ended. */
  ended(): void {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    this.#waiting.length = 0;
    this.#resumeFlow();
    for (const release of this.#releases) release();
    const { session } = this.#handshake;
    if (!session) return;
    if (this.#options.resumable) this.#options.sessions.detach(session);
    else this.#options.sessions.end(session);
  }

  #request(request: Request): void {
    if (request.method === "initialize") {
      this.#settle(request, () => this.#handshake.initialize(request.params));
      return;
    }
    const method = this.#methods.get(request.method);
    const objection = this.#handshake.objection(request.method);
    if (objection !== undefined) this.#refuse(request.id, CODES.invalidRequest, objection);
    else if (!method) {
      this.#refuse(
        request.id,
        CODES.methodNotFound,
        `This exec-server does not implement \`${request.method}\`.`,
      );
    } else if (method.lane === "control") this.#settle(request, () => this.#call(method, request.params));
    else if (this.#waiting.length > 0 || !this.#canRunMore) this.#waiting.push(request);
    else this.#runOrdinary(request, method);
  }

  #runOrdinary(request: Request, method: Method): void {
    this.#running += 1;
    this.#settle(
      request,
      () => this.#call(method, request.params),
      () => this.#ordinaryDone(),
    );
  }

  #ordinaryDone(): void {
    this.#running -= 1;
    if (this.#ending.signal.aborted) return;
    this.#runWaiting();
    this.#resumeReading();
  }

  /** False while many bytes are unsent, because further results may be large files. */
  get #canRunMore(): boolean {
    return this.#running < this.#options.concurrentRequests && !this.#isOutgoingFull;
  }

  #runWaiting(): void {
    while (this.#waiting.length > 0 && this.#canRunMore) {
      const next = this.#waiting.shift();
      const method = next && this.#methods.get(next.method);
      if (method) this.#runOrdinary(next, method);
    }
  }

  #call(method: Method, params: unknown): unknown {
    const { session } = this.#handshake;
    if (!session) throw new Refusal(CODES.invalidRequest, "There is no session.");
    this.#context ??= this.#makeContext(session);
    return method.run(checkedParams(method.params, params) as never, this.#context);
  }

  #makeContext(session: Session): CallContext {
    return {
      session,
      signal: this.#ending.signal,
      notify: (name, content) => {
        if (!this.#ending.signal.aborted)
          this.#writer.send(JSON.stringify({ method: name, params: content }));
      },
      flowed: async () => {
        if (!this.#writer.isFull || this.#ending.signal.aborted) return;
        this.#flow ??= Promise.withResolvers();
        await this.#flow.promise;
      },
    };
  }

  #resumeFlow(): void {
    this.#flow?.resolve();
    this.#flow = undefined;
  }

  /** Runs a handler and sends its result, synchronously if the result is not a promise. */
  #settle({ id }: Request, run: () => unknown, done: () => void = () => {}): void {
    let result: unknown;
    try {
      result = run();
    } catch (error) {
      this.#fail(id, error);
      done();
      return;
    }
    if (!(result instanceof Promise)) {
      this.#answer(id, result);
      done();
      return;
    }
    void result
      .then(
        (value: unknown) => this.#answer(id, value),
        (error: unknown) => this.#fail(id, error),
      )
      .finally(done);
  }

  #answer(id: string, result: unknown): void {
    if (this.#ending.signal.aborted) return;
    if (result instanceof LargeResult) {
      const before = `{"id":${id},"result":${result.before}`;
      if (!this.#isTooLong(id, before.length + Math.ceil(result.bytes.length / 3) * 4))
        this.#writer.sendBase64(before, result.bytes, `${result.after}}`);
      return;
    }
    const text = `{"id":${id},"result":${JSON.stringify(result ?? null)}}`;
    if (!this.#isTooLong(id, text.length)) this.#writer.send(text);
  }

  /** Refuses a request whose result the client can't receive: it would be disconnected, and ask again. */
  #isTooLong(id: string, length: number): boolean {
    const { longestMessageBytes = Infinity } = this.#options;
    if (length + CLOSING_BYTES <= longestMessageBytes) return false;
    this.#refuse(
      id,
      CODES.internal,
      `The result has ${length} bytes, but messages on this connection are limited to ${longestMessageBytes} bytes.`,
    );
    return true;
  }

  #fail(id: string, error: unknown): void {
    if (error instanceof Refusal) this.#refuse(id, error.rpcCode, error.message);
    else this.#refuse(id, CODES.internal, error instanceof Error ? error.message : "Internal error.");
  }

  #refuse(id: string, code: number, message: string): void {
    if (this.#ending.signal.aborted) return;
    this.#writer.send(`{"error":{"code":${code},"message":${JSON.stringify(message)}},"id":${id}}`);
  }

  get #isOverloaded(): boolean {
    return this.#waiting.length >= this.#limits.queuedRequests || this.#isOutgoingFull;
  }

  get #isOutgoingFull(): boolean {
    if (this.#writer.waitingBytes <= this.#limits.outgoingStopReadingBytes) return false;
    // Reading `isFull` marks the writer, so that it calls `relieved` when it has room again.
    void this.#writer.isFull;
    return true;
  }

  /** Stops reading from a client that sends requests faster than it reads responses. */
  #restrain(): void {
    if (this.#readingStopped || !this.#isOverloaded) return;
    this.#readingStopped = true;
    this.#inlet.pause();
  }

  #resumeReading(): void {
    if (!this.#readingStopped || this.#isOverloaded) return;
    this.#readingStopped = false;
    this.#inlet.resume();
  }
}
