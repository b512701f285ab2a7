import { messageOf } from "@codexkit/rpc/async";
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
import { raceCancel } from "../../contract/cancelled.ts";
import { ProviderError } from "../../contract/provider-error.ts";
import type { SessionNotification } from "../events/session-notification.ts";
import type { AcpLimits } from "./limits.ts";
import { type AcpAuthMethod, authMethodsOf } from "./auth-method.ts";
import { describeFailure, waitForAgent } from "./agent-failure.ts";
import { type AcpCommand, startProcess } from "./start-process.ts";
import { steerSession, supportsSteering } from "./steering.ts";
import { interceptUpdates } from "./intercept-updates.ts";

/** Receives notifications and requests of the agent. */
export interface AcpListener {
  onUpdate(notification: SessionNotification): void;
  onPermissionRequest(
    request: RequestPermissionRequest,
    signal: AbortSignal,
  ): Promise<RequestPermissionResponse>;
  /** A request with an unknown method. The agent receives "method not found". */
  onUnknownRequest(method: string, params: unknown): void;
}

export interface AcpAgentOptions extends AcpCommand {
  readonly authMethod?: string | undefined;
  readonly listener: AcpListener;
  readonly limits: AcpLimits;
  /** Cancels the start. No effect afterwards. */
  readonly signal?: AbortSignal | undefined;
}

/** A running agent process, initialized. */
export class AcpAgent implements AsyncDisposable {
  readonly capabilities: AgentCapabilities;
  readonly info: InitializeResponse["agentInfo"];
  readonly authMethods: readonly AcpAuthMethod[];
  /** Whether messages can be injected into a running prompt. */
  readonly canSteer: boolean;
  /** Resolves with the reason once the agent has ended. Never rejects. */
  readonly ended: Promise<string>;
  readonly #process: OwnedProcess;
  readonly #connection: ClientConnection;

  private constructor(owned: OwnedProcess, connection: ClientConnection, initialized: InitializeResponse) {
    this.#process = owned;
    this.#connection = connection;
    this.capabilities = initialized.agentCapabilities ?? {};
    this.info = initialized.agentInfo;
    this.authMethods = authMethodsOf(initialized);
    this.canSteer = supportsSteering(initialized);
    this.ended = endOf(owned, connection);
  }

  /** @throws {ProviderError} `provider_unavailable`, `authentication_failed`, `context_cancelled` */
  static async start(options: AcpAgentOptions): Promise<AcpAgent> {
    const { limits, signal } = options;
    const owned = await startOwned(options);
    const connection = connect(owned, options.listener);
    try {
      const initializing = initialize(connection.agent, options.authMethod);
      const inTime = waitForAgent("the agent's answer to initialize", limits.initializeMs, initializing);
      const initialized = await raceCancel(inTime, signal);
      return new AcpAgent(owned, connection, initialized);
    } catch (error) {
      connection.close();
      // If the agent exited, its exit status is more useful than the broken pipe.
      const end = await owned.endedWithin(limits.exitStatusMs);
      await owned.stop("SIGTERM");
      if (ProviderError.is(error)) throw error;
      const why = end ? owned.describeEnd(end) : describeFailure(error);
      throw unavailable(options, why, error);
    }
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Whether the connection has ended. */
  get isClosed(): boolean {
    return this.#connection.signal.aborted;
  }

  request<Method extends AgentRequestMethod>(
    method: Method,
    params: AgentRequestParamsByMethod[Method],
  ): Promise<AgentRequestResponsesByMethod[Method]> {
    return this.#connection.agent.request(method, params);
  }

  /** Injects a message into the running turn of a session. Returns false if no turn is running. */
  async steer(sessionId: string, text: string): Promise<boolean> {
    return steerSession(this.#connection.agent, sessionId, text);
  }

  /** Cancels the prompt of a session. No-op if the agent has ended. */
  async cancel(sessionId: string): Promise<void> {
    await this.#connection.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {});
  }

  /** Closes a session, if the agent supports it. */
  async closeSession(sessionId: string, limitMs: number): Promise<void> {
    if (this.isClosed || !this.capabilities.sessionCapabilities?.close) return;
    const closing = this.request(methods.agent.session.close, { sessionId });
    await waitForAgent("the agent's answer to session/close", limitMs, closing).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.close();
    await this.#process.stop();
  }
}

async function startOwned(options: AcpAgentOptions): Promise<OwnedProcess> {
  try {
    const owned = await startProcess(options);
    if (!owned.startError) return owned;
    throw owned.startError;
  } catch (error) {
    throw unavailable(options, messageOf(error), error);
  }
}

function connect(owned: OwnedProcess, listener: AcpListener): ClientConnection {
  const { stdin, stdout } = owned.child;
  const stream = ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout) as ReadableStream<Uint8Array>);
  return client({ name: "codexkit" })
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) =>
      listener.onPermissionRequest(params, signal),
    )
    .onRequest("*", ({ method, params }) => {
      listener.onUnknownRequest(method, params);
      throw RequestError.methodNotFound(method);
    })
    .connect(interceptUpdates(stream, (notification) => listener.onUpdate(notification)));
}

async function initialize(agent: ClientContext, authMethod: string | undefined): Promise<InitializeResponse> {
  const initialized = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    // The agent uses its own file access and terminals.
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    },
    clientInfo: { name: "codexkit", version: "0.1.0" },
  });
  if (initialized.protocolVersion !== PROTOCOL_VERSION) {
    const message = `it supports version ${initialized.protocolVersion} of ACP, but version ${PROTOCOL_VERSION} is required`;
    throw new Error(message);
  }
  if (authMethod === undefined) return initialized;
  const offered = authMethodsOf(initialized).map(({ id }) => id);
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
  return initialized;
}

/** An agent whose pipe has closed is ended, even if its process is still running. */
async function endOf(owned: OwnedProcess, connection: ClientConnection): Promise<string> {
  await connection.closed;
  await owned.stop();
  return owned.describeEnd(await owned.ended);
}

function unavailable({ command, args = [] }: AcpCommand, why: string, cause: unknown): ProviderError {
  const line = [command, ...args].join(" ");
  const message = `The ACP agent \`${line}\` could not be started: ${why}. Check that the command runs and speaks ACP on its stdio.`;
  return new ProviderError("provider_unavailable", message, { cause });
}
