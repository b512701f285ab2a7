import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { CodexError } from "../errors.ts";
import { mergeEnvironments } from "../process/child-environment.ts";
import { findCodex } from "../process/find-codex.ts";
import { configFlags, tomlValue } from "./config-flags.ts";
import { exitError, spawnError } from "./errors.ts";
import type { CodexOptions } from "./options.ts";
import { startUp } from "./start-up.ts";

/** Everything that a codex process is started with. Two turns with the same plan share a process. */
export interface LaunchPlan {
  readonly codexPath: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly configOverrides: readonly string[];
  readonly apiKey: string | undefined;
  /** Identifies the content of the files that codex reads only when it starts. */
  readonly files: string;
}

/** The name under which the model's side knows the old package. */
const ORIGINATOR = "codex_sdk_ts";

/** The installed codex, which the old package looked for when its `Codex` was made. */
export function installedCodexPath(): string {
  try {
    return findCodex().path;
  } catch (cause) {
    throw new Error(
      "Unable to locate Codex CLI binaries. Ensure @openai/codex is installed with optional dependencies.",
      { cause },
    );
  }
}

/** The plan as it is now: a program may change `process.env`, or a configuration file, between two turns. */
export function launchPlan(options: CodexOptions, installed: string | undefined, folder: string): LaunchPlan {
  const { codexPathOverride, env, config, configOverrides = [], baseUrl, apiKey } = options;
  const given = mergeEnvironments([env ?? process.env]);
  const originator = given["CODEX_INTERNAL_ORIGINATOR_OVERRIDE"] || ORIGINATOR;
  const inherited: Record<string, string> = { ...given, CODEX_INTERNAL_ORIGINATOR_OVERRIDE: originator };
  const withKey = apiKey ? { ...inherited, CODEX_API_KEY: apiKey } : inherited;
  return {
    codexPath: installed ?? givenCodexPath(codexPathOverride ?? "", inherited),
    ...startUp(folder, withKey),
    env: installed === undefined ? withKey : withTools(withKey, installed),
    configOverrides: [
      ...(config === undefined ? [] : configFlags(config)),
      ...configOverrides.map(checkOverride),
      ...(baseUrl ? [`openai_base_url=${tomlValue(baseUrl, "openai_base_url")}`] : []),
    ],
    apiKey: withKey["CODEX_API_KEY"] || undefined,
  };
}

/** Refuses what codex refuses on its command line. */
function checkOverride(override: string): string {
  const at = override.indexOf("=");
  if (at !== -1 && override.slice(0, at).trim() !== "") return override;
  const problem = at === -1 ? "Invalid override (missing '=')" : "Empty key in override";
  throw exitError("code 1", `Error parsing -c overrides: ${problem}: ${override}\n`);
}

function givenCodexPath(path: string, env: Readonly<Record<string, string>>): string {
  try {
    return findCodex({ path, env }).path;
  } catch (error) {
    throw error instanceof CodexError ? spawnError(path, error) : error;
  }
}

/** The programs that come with Codex (ripgrep) lie in a folder beside its own. */
function withTools(env: Readonly<Record<string, string>>, codexPath: string): Record<string, string> {
  const package_ = dirname(dirname(codexPath));
  const tools = [join(package_, "codex-path"), join(package_, "path")].find((path) => existsSync(path));
  if (tools === undefined) return { ...env };
  const name = Object.keys(env).find((key) => key.toUpperCase() === "PATH") ?? "PATH";
  const rest = (env[name] ?? "").split(delimiter).filter((path) => path !== "" && path !== tools);
  return { ...env, [name]: [tools, ...rest].join(delimiter) };
}
