import { codexEnvironmentMethods } from "../codex-environment/index.ts";
import { httpMethod } from "../http/http-method.ts";
import type { ManagedNetwork } from "../network/managed-network.ts";
import type { FifoPool } from "../process/fifo-pool.ts";
import type { Launcher } from "../process/launcher.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { EnvironmentInfo } from "../wire/exec-wire.ts";
import type { Method, MethodTable } from "../session/method.ts";
import { fileMethods } from "./file-methods.ts";
import { processMethods } from "./process-methods.ts";

export interface MethodServices {
  readonly info: EnvironmentInfo;
  readonly fifos: FifoPool;
  readonly launcher: Launcher;
  readonly sandbox: Sandbox;
  readonly network: ManagedNetwork;
  /** Registers a function that runs when the connection ends. */
  readonly onEnd: (release: () => void) => void;
}

/** The methods of one connection. */
export function methodTable({ info, fifos, launcher, sandbox, network, onEnd }: MethodServices): MethodTable {
  const constant = (result: object): Method => ({ params: undefined, lane: "control", run: () => result });
  return new Map<string, Method>([
    ["environment/info", constant(info)],
    ["environment/status", constant({ status: "ready" })],
    ...processMethods({ fifos, launcher }, sandbox, network),
    ...fileMethods(sandbox, onEnd),
    ["http/request", httpMethod()],
    ...codexEnvironmentMethods(sandbox),
  ]);
}
