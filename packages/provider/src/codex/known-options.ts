import { CodexError, LAUNCH_OPTIONS, type LaunchOptions, rejectUnknownOptions } from "codexkit";
import type { ProviderCallOptions, SpawnOptions } from "../contract/agent-provider.ts";
import type { CodexProviderOptions } from "./codex-provider.ts";
import { toProviderError } from "./errors/translate-error.ts";

type Keys<Options> = Readonly<Record<keyof Options, true>>;

const CALL: Keys<ProviderCallOptions> = { signal: true };
const SPAWN: Keys<SpawnOptions> = { ...CALL, idempotencyKey: true };

type OwnOptions = Omit<CodexProviderOptions, keyof LaunchOptions>;
const OWN: Keys<OwnOptions> = { name: true, ask: true, interruptTimeoutMs: true, prices: true };

// The provider sets these itself.
const {
  handlers: _handlers,
  optOutNotifications: _notifications,
  experimentalApi: _api,
  ...LAUNCH
} = LAUNCH_OPTIONS;

/** @throws {ProviderError} `invalid_spec` for an unknown option of `spawn`. */
export function checkSpawnOptions(options: SpawnOptions): void {
  check("spawn", options, SPAWN);
}

/** @throws {ProviderError} `invalid_spec` for an unknown option of `resume`. */
export function checkResumeOptions(options: ProviderCallOptions): void {
  check("resume", options, CALL);
}

/** @throws {ProviderError} `invalid_spec` for an unknown option of the provider, with the closest known name. */
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
