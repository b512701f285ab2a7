import { checkOverride, type CodexConfigObject, configOverrides } from "./config-overrides.ts";
import { markValue, OWNER_VARIABLE } from "./owner-mark.ts";

/** What `codex app-server` is told on its command line. */
export interface AppServerSettings {
  /** Settings laid over `config.toml`, as an object. */
  readonly config?: CodexConfigObject | undefined;
  /** The same as `key=value` with a TOML value; these come after `config`. */
  readonly configOverrides?: readonly string[] | undefined;
  /** Features to switch on. */
  readonly enable?: readonly string[] | undefined;
  /** Features to switch off. */
  readonly disable?: readonly string[] | undefined;
  /** Makes an unknown setting in `config.toml` an error. */
  readonly strictConfig?: boolean | undefined;
  /** More arguments for `codex app-server`. */
  readonly args?: readonly string[] | undefined;
}

/** The command line, without the program. */
export function appServerArguments(settings: AppServerSettings, listen: string, mark: string): string[] {
  const overrides = [
    ...configOverrides(settings.config ?? {}),
    ...(settings.configOverrides ?? []).map(checkOverride),
    ...markOverride(mark),
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
 * A `shell_environment_policy` that inherits little would take the owner's mark from commands, and a sweep could not
 * find those which left Codex. Comes last: a whole table given before would replace it.
 */
function markOverride(mark: string): string[] {
  // Windows shows nobody's environment.
  if (process.platform === "win32") return [];
  return configOverrides({ [`shell_environment_policy.set.${OWNER_VARIABLE}`]: markValue(mark) });
}
