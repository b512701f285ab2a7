import { CodexError, type LaunchOptions, rejectUnknownOptions } from "codexkit";
import type { CallOptions, SpawnOptions } from "../contract/agent-provider.ts";
import type { CodexProviderOptions } from "./codex-provider.ts";
import { toProviderError } from "./translate-error.ts";

type Keys<Options> = Readonly<Record<keyof Options, true>>;

const CALL: Keys<CallOptions> = { signal: true };
const SPAWN: Keys<SpawnOptions> = { ...CALL, idempotencyKey: true };

type OwnOptions = Omit<CodexProviderOptions, keyof LaunchOptions>;
const OWN: Keys<OwnOptions> = { name: true, ask: true, interruptTimeoutMs: true, prices: true };

const LAUNCH: Keys<Omit<CodexProviderOptions, keyof OwnOptions>> = {
  clientInfo: true,
  extensions: true,
  approvalTimeoutMs: true,
  minimumVersion: true,
  signal: true,
  handshakeTimeoutMs: true,
  limits: true,
  reconcile: true,
  onNotification: true,
  onPacket: true,
  codexPath: true,
  wrapperArgs: true,
  env: true,
  inheritEnv: true,
  codexHome: true,
  cwd: true,
  listen: true,
  token: true,
  onStderr: true,
  onSpawn: true,
  ownersFolder: true,
  processLimits: true,
  outliveOwner: true,
  config: true,
  configOverrides: true,
  enable: true,
  disable: true,
  strictConfig: true,
  args: true,
};

/** @throws {ProviderError} `invalid_spec` for a misspelt option of `spawn`. */
export function checkSpawnOptions(options: SpawnOptions): void {
  check("spawn", options, SPAWN);
}

/** @throws {ProviderError} `invalid_spec` for a misspelt option of `resume`. */
export function checkResumeOptions(options: CallOptions): void {
  check("resume", options, CALL);
}

/** @throws {ProviderError} `invalid_spec` for a misspelt option of the provider, with the nearest of its own names. */
export function checkProviderOptions(options: CodexProviderOptions): void {
  check("CodexProvider.create", options, { ...LAUNCH, ...OWN });
}

function check<Options extends object>(what: string, options: Options, known: Keys<Options>): void {
  try {
    rejectUnknownOptions(what, options, known);
  } catch (error) {
    throw error instanceof CodexError ? toProviderError(error, "invalid_spec") : error;
  }
}
