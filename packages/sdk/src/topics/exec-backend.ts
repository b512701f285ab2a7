import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { DisposableStack } from "@codexkit/rpc/async";
import { CodexError } from "../errors.ts";
import { checkAbsolute } from "./absolute-path.ts";
import type { ExecExit, StartExecOptions } from "./exec-options.ts";
import type { ExecOutput } from "./exec-output.ts";
import { NotificationWaiter } from "./notification-waiter.ts";
import type { TopicCaller } from "./topic-caller.ts";
import { uniqueId } from "../unique-id.ts";

/** A write to a command's stdin. */
export interface StdinWrite {
  readonly deltaBase64?: string;
  readonly closeStdin?: boolean;
}

/** Common interface of the server's two APIs for running commands. */
export interface ExecBackend {
  readonly id: string;
  /** Registers the output listener. Called before `start`. */
  listen(onOutput: (piece: ExecOutput) => void): Disposable;
  /** Starts the command. `exited` settles when the command ends. */
  start(): Promise<{ readonly exited: Promise<Omit<ExecExit, "stdoutCapReached" | "stderrCapReached">> }>;
  write(stdin: StdinWrite, options: CallOptions): Promise<unknown>;
  resize(size: v2.CommandExecTerminalSize, options: CallOptions): Promise<unknown>;
  terminate(options: CallOptions): Promise<unknown>;
}

export type StreamedExecOptions = StartExecOptions & { readonly stdin: boolean };

/** How long the server may take to respond after the command's own timeout. */
const ANSWER_GRACE_MS = 30_000;

/** `command/exec`: inside the sandbox. The server responds when the command ends, so a failed start is reported by `exited`. */
export function createSandboxedBackend(
  caller: TopicCaller,
  command: string[],
  options: StreamedExecOptions,
): ExecBackend {
  const { cwd, env, sandbox, outputBytesCap, timeoutMs, tty = false, size, stdin } = options;
  const processId = uniqueId();
  const params: v2.CommandExecParams = {
    command,
    processId,
    tty,
    streamStdin: stdin,
    streamStdoutStderr: true,
    cwd: cwd ?? null,
    env: env ?? null,
    size: size ?? null,
    ...(outputBytesCap === undefined ? { disableOutputCap: true } : { outputBytesCap }),
    ...(timeoutMs === undefined ? { disableTimeout: true } : { timeoutMs }),
    ...(typeof sandbox !== "object"
      ? {}
      : "profile" in sandbox
        ? { permissionProfile: sandbox.profile }
        : { sandboxPolicy: sandbox }),
  };
  return {
    id: processId,
    listen: (onOutput) =>
      caller.on("command/exec/outputDelta", (delta) => {
        if (delta.processId === processId) onOutput(toOutput(delta));
      }),
    start: () => {
      // The server kills the command at its timeout and then responds. A frozen server never does.
      const limitMs = timeoutMs === undefined ? Infinity : timeoutMs + ANSWER_GRACE_MS;
      const exited = caller.request("command/exec", params, { timeoutMs: limitMs });
      return Promise.resolve({
        exited: exited.then(({ exitCode }) => ({ exitCode, outputDrainTimedOut: false })),
      });
    },
    write: (write, call) => caller.request("command/exec/write", { processId, ...write }, call),
    resize: (to, call) => caller.request("command/exec/resize", { processId, size: to }, call),
    terminate: (call) => caller.request("command/exec/terminate", { processId }, call),
  };
}

/** `process/spawn`: outside the sandbox. The server responds at the start and sends a notification at the end. */
export function createUnsandboxedBackend(
  caller: TopicCaller,
  command: string[],
  options: StreamedExecOptions,
): ExecBackend {
  const { cwd, env, outputBytesCap, timeoutMs, tty = false, size, stdin } = options;
  if (cwd === undefined)
    throw new CodexError("invalid_argument", "A command outside the sandbox needs a cwd.");
  const processHandle = uniqueId();
  const params: v2.ProcessSpawnParams = {
    command,
    processHandle,
    cwd: checkAbsolute(cwd, "cwd"),
    tty,
    streamStdin: stdin,
    streamStdoutStderr: true,
    env: env ?? null,
    size: size ?? null,
    // Here `null` means "no limit"; an absent value means the server's default.
    outputBytesCap: outputBytesCap ?? null,
    timeoutMs: timeoutMs ?? null,
  };
  return {
    id: processHandle,
    listen: (onOutput) =>
      caller.on("process/outputDelta", (delta) => {
        if (delta.processHandle === processHandle) onOutput(toOutput(delta));
      }),
    start: async () => {
      using stack = new DisposableStack();
      const waiter = stack.use(new NotificationWaiter(caller, "process/exited"));
      await caller.request("process/spawn", params);
      stack.move();
      const exited = waiter
        .until((exit) => exit.processHandle === processHandle)
        .finally(() => waiter[Symbol.dispose]());
      return {
        exited: exited.then(({ exitCode, outputDrainTimedOut }) => ({
          exitCode,
          outputDrainTimedOut: outputDrainTimedOut ?? false,
        })),
      };
    },
    write: (write, call) => caller.request("process/writeStdin", { processHandle, ...write }, call),
    resize: (to, call) => caller.request("process/resizePty", { processHandle, size: to }, call),
    terminate: (call) => caller.request("process/kill", { processHandle }, call),
  };
}

function toOutput(delta: {
  readonly stream: "stdout" | "stderr";
  readonly deltaBase64: string;
  readonly capReached: boolean;
}): ExecOutput {
  return {
    stream: delta.stream,
    bytes: Buffer.from(delta.deltaBase64, "base64"),
    capReached: delta.capReached,
  };
}
