import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { CodexError } from "../errors.ts";
import { mergeEnvironments } from "../process/child-environment.ts";
import { findCodex } from "../process/find-codex.ts";
import { toConfigFlags, toTomlValue } from "./config-flags.ts";
import { exitError, spawnError } from "./errors.ts";
import type { CodexOptions } from "./options.ts";
import { readStartupFiles } from "./startup-files.ts";

/** All settings of a codex process. Turns with the same plan share a process. */
export interface LaunchPlan {
  readonly codexPath: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly configOverrides: readonly string[];
  readonly apiKey: string | undefined;
  /** Identifies the content of the files that codex reads only when it starts. */
  readonly files: string;
}

/** The name that the original sends to the model's endpoint. */
const ORIGINATOR = "codex_sdk_ts";

/** Finds the installed codex. As in the original, this happens when a `Codex` is created. */
export function findInstalledCodexPath(): string {
  try {
    return findCodex().path;
  } catch (cause) {
    throw new Error(
      "Unable to locate Codex CLI binaries. Ensure @openai/codex is installed with optional dependencies.",
      { cause },
    );
  }
}

/** Creates a plan for the next turn. `process.env` and configuration files can change between turns. */
export function createLaunchPlan(
  options: CodexOptions,
  installed: string | undefined,
  folder: string,
): LaunchPlan {
  const { codexPathOverride, env, config, configOverrides = [], baseUrl, apiKey } = options;
  const given = mergeEnvironments([env ?? process.env]);
  const originator = given["CODEX_INTERNAL_ORIGINATOR_OVERRIDE"] || ORIGINATOR;
  const inherited: Record<string, string> = { ...given, CODEX_INTERNAL_ORIGINATOR_OVERRIDE: originator };
  const withKey = apiKey ? { ...inherited, CODEX_API_KEY: apiKey } : inherited;
  return {
    codexPath: installed ?? resolveCodexPath(codexPathOverride ?? "", inherited),
    ...readStartupFiles(folder, withKey),
    env: installed === undefined ? withKey : withTools(withKey, installed),
    configOverrides: [
      ...(config === undefined ? [] : toConfigFlags(config)),
      ...configOverrides.map(checkOverride),
      ...(baseUrl ? [`openai_base_url=${toTomlValue(baseUrl, "openai_base_url")}`] : []),
    ],
    apiKey: withKey["CODEX_API_KEY"] || undefined,
  };
}

/** Throws for the overrides that codex rejects on its command line. */
function checkOverride(override: string): string {
  const at = override.indexOf("=");
  if (at !== -1 && override.slice(0, at).trim() !== "") return override;
  const problem = at === -1 ? "Invalid override (missing '=')" : "Empty key in override";
  throw exitError("code 1", `Error parsing -c overrides: ${problem}: ${override}\n`);
}

function resolveCodexPath(path: string, env: Readonly<Record<string, string>>): string {
  try {
    return findCodex({ path, env }).path;
  } catch (error) {
    throw error instanceof CodexError ? spawnError(path, error) : error;
  }
}

/** Adds the folder with the programs that Codex ships (ripgrep) to PATH. */
function withTools(env: Readonly<Record<string, string>>, codexPath: string): Record<string, string> {
  const package_ = dirname(dirname(codexPath));
  const tools = [join(package_, "codex-path"), join(package_, "path")].find((path) => existsSync(path));
  if (tools === undefined) return { ...env };
  const name = Object.keys(env).find((key) => key.toUpperCase() === "PATH") ?? "PATH";
  const rest = (env[name] ?? "").split(delimiter).filter((path) => path !== "" && path !== tools);
  return { ...env, [name]: [tools, ...rest].join(delimiter) };
}
