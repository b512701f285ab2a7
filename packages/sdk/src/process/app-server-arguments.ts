import { checkOverride, type CodexConfigObject, toConfigOverrides } from "./config-overrides.ts";
import { toMarkValue, OWNER_VARIABLE } from "./owner-mark.ts";

/** Settings that are passed on the command line of `codex app-server`. */
export interface AppServerSettings {
  /** Overrides of `config.toml`, as an object. */
  readonly config?: CodexConfigObject | undefined;
  /** Overrides as `key=value` with a TOML value. They are applied after `config`. */
  readonly configOverrides?: readonly string[] | undefined;
  /** Features to enable. */
  readonly enable?: readonly string[] | undefined;
  /** Features to disable. */
  readonly disable?: readonly string[] | undefined;
  /** Rejects unknown settings in `config.toml`. */
  readonly strictConfig?: boolean | undefined;
  /** Additional arguments for `codex app-server`. */
  readonly args?: readonly string[] | undefined;
}

/** Returns the arguments of codex. */
export function toArguments(settings: AppServerSettings, listen: string, mark: string): string[] {
  const overrides = [
    ...toConfigOverrides(settings.config ?? {}),
    ...(settings.configOverrides ?? []).map(checkOverride),
    ...createMarkOverride(mark),
  ];
  return [
    "app-server",
    "--listen",
    listen,
    ...(settings.strictConfig ? ["--strict-config"] : []),
    ...(settings.enable ?? []).flatMap((feature) => ["--enable", feature]),
    ...(settings.disable ?? []).flatMap((feature) => ["--disable", feature]),
    ...overrides.flatMap((override) => ["-c", override]),
    ...(settings.args ?? []),
  ];
}

/**
 * Passes the owner's mark to commands even if the `shell_environment_policy` inherits little. Without it, a sweep could not find
 * commands that have left Codex's session. It must come last, because a whole table would replace it.
 */
function createMarkOverride(mark: string): string[] {
  // Environments of other processes can't be read on Windows.
  if (process.platform === "win32") return [];
  return toConfigOverrides({ [`shell_environment_policy.set.${OWNER_VARIABLE}`]: toMarkValue(mark) });
}
