import { Readable, Writable } from "node:stream";
import {
  type AgentCapabilities,
  type AgentRequestMethod,
  type AgentRequestParamsByMethod,
  type AgentRequestResponsesByMethod,
  client,
  type ClientConnection,
  type ClientContext,
  type InitializeResponse,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import type { OwnedProcess } from "codexkit/process";
import { untilAborted } from "../../contract/until-aborted.ts";
import { ProviderError } from "../../contract/provider-error.ts";
import type { SessionNotification } from "../events/session-notification.ts";
import type { AcpLimits } from "../limits.ts";
import { type AcpAuthMethod, authMethodsOf } from "./auth-method.ts";
import { describeFailure } from "./describe-failure.ts";
import { type AcpCommand, startProcess } from "./start-process.ts";
import { steerSession, supportsSteering } from "./steering.ts";
import { takeUpdates } from "./take-updates.ts";
import { within } from "./within.ts";

/** What an agent says without having been asked. */
export interface AcpListener {
  update(notification: SessionNotification): void;
  permission(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>;
  /** A request that this side does not know; the agent is told so. */
  unknown(method: string, params: unknown): void;
}

export interface AcpAgentOptions extends AcpCommand {
  readonly authMethod?: string | undefined;
  readonly listener: AcpListener;
  readonly limits: AcpLimits;
  /** For the start alone. */
  readonly signal?: AbortSignal | undefined;
}

/** An agent that was started and has shaken hands. */
export class AcpAgent implements AsyncDisposable {
  readonly capabilities: AgentCapabilities;
  readonly info: InitializeResponse["agentInfo"];
  readonly authMethods: readonly AcpAuthMethod[];
  /** Whether a running prompt can be given messages. */
  readonly canSteer: boolean;
  /** Resolves with the reason once it is gone, however that came. Never rejects. */
  readonly gone: Promise<string>;
  readonly #process: OwnedProcess;
  readonly #connection: ClientConnection;

  private constructor(owned: OwnedProcess, connection: ClientConnection, welcome: InitializeResponse) {
    this.#process = owned;
    this.#connection = connection;
    this.capabilities = welcome.agentCapabilities ?? {};
    this.info = welcome.agentInfo;
    this.authMethods = authMethodsOf(welcome);
    this.canSteer = supportsSteering(welcome);
    this.gone = goneOf(owned, connection);
  }

  /** @throws {ProviderError} `provider_unavailable`, `authentication_failed`, `context_cancelled` */
  static async start(options: AcpAgentOptions): Promise<AcpAgent> {
    const { limits, signal } = options;
    const owned = await started(options);
    const connection = connect(owned, options.listener);
    try {
      const welcoming = shakeHands(connection.agent, options.authMethod);
      const inTime = within("the agent's answer to initialize", limits.initializeMs, welcoming);
      const welcome = await untilAborted(inTime, signal);
      return new AcpAgent(owned, connection, welcome);
    } catch (error) {
      connection.close();
      // Its end says more than the broken pipe, if it is what broke it.
      const end = await owned.endedWithin(limits.lastWordsMs);
      await owned.stop("SIGTERM");
      if (error instanceof ProviderError) throw error;
      const why = end ? owned.describeEnd(end) : describeFailure(error);
      throw unavailable(options, why, error);
    }
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Whether nothing can be asked any more. */
  get closed(): boolean {
    return this.#connection.signal.aborted;
  }

  request<Method extends AgentRequestMethod>(
    method: Method,
    params: AgentRequestParamsByMethod[Method],
  ): Promise<AgentRequestResponsesByMethod[Method]> {
    return this.#connection.agent.request(method, params);
  }

  /** Gives a message to the running turn of a session. False if the agent has no running turn. */
  async steer(sessionId: string, text: string): Promise<boolean> {
    return steerSession(this.#connection.agent, sessionId, text);
  }

  /** Tells an agent to stop the work of a session; one that is gone has. */
  async cancel(sessionId: string): Promise<void> {
    await this.#connection.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {});
  }

  /** Lets the agent forget a session, if it can. */
  async closeSession(sessionId: string, limitMs: number): Promise<void> {
    if (this.closed || !this.capabilities.sessionCapabilities?.close) return;
    const closing = this.request(methods.agent.session.close, { sessionId });
    await within("the agent's answer to session/close", limitMs, closing).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.close();
    await this.#process.stop();
  }
}

async function started(options: AcpAgentOptions): Promise<OwnedProcess> {
  try {
    const owned = await startProcess(options);
    if (!owned.startError) return owned;
    throw owned.startError;
  } catch (error) {
    throw unavailable(options, error instanceof Error ? error.message : String(error), error);
  }
}

function connect(owned: OwnedProcess, listener: AcpListener): ClientConnection {
  const { stdin, stdout } = owned.child;
  const stream = ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout) as ReadableStream<Uint8Array>);
  return client({ name: "codexkit" })
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) =>
      listener.permission(params, signal),
    )
    .onRequest("*", ({ method, params }) => {
      listener.unknown(method, params);
      throw RequestError.methodNotFound(method);
    })
    .connect(takeUpdates(stream, (notification) => listener.update(notification)));
}

async function shakeHands(agent: ClientContext, authMethod: string | undefined): Promise<InitializeResponse> {
  const welcome = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    // Files and terminals are the agent's own business: nothing of this side's is offered for them.
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    },
    clientInfo: { name: "codexkit", version: "0.1.0" },
  });
  if (welcome.protocolVersion !== PROTOCOL_VERSION) {
    const message = `it speaks version ${welcome.protocolVersion} of ACP, and version ${PROTOCOL_VERSION} was asked for`;
    throw new Error(message);
  }
  if (authMethod === undefined) return welcome;
  const offered = authMethodsOf(welcome).map(({ id }) => id);
  if (!offered.includes(authMethod)) {
    const offer = offered.length === 0 ? "it offers none" : `it offers ${offered.join(", ")}`;
    throw new Error(`it has no auth method "${authMethod}": ${offer}`);
  }
  try {
    await agent.request(methods.agent.authenticate, { methodId: authMethod });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const message = `The agent's auth method "${authMethod}" failed: ${describeFailure(error)}`;
    throw new ProviderError("authentication_failed", message, { cause: error });
  }
  return welcome;
}

/** A closed pipe is the end of an agent, whether it exited or not. */
async function goneOf(owned: OwnedProcess, connection: ClientConnection): Promise<string> {
  await connection.closed;
  await owned.stop();
  return owned.describeEnd(await owned.ended);
}

function unavailable({ command, args = [] }: AcpCommand, why: string, cause: unknown): ProviderError {
  const line = [command, ...args].join(" ");
  const message = `The ACP agent \`${line}\` can't be used: ${why}. Check that the command runs, and that it speaks ACP on its stdio.`;
  return new ProviderError("provider_unavailable", message, { cause });
}
