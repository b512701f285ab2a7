import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** The program from source, as arguments of Node. */
export const CLI: readonly string[] = [
  "--conditions=codexkit:source",
  "--disable-warning=ExperimentalWarning",
  join(import.meta.dirname, "../src/main.ts"),
];

export interface CliOptions {
  readonly cwd?: string;
  /** Variables in addition to those of the test. `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The whole of stdin. Default: empty. */
  readonly input?: string;
}

export interface FinishedCli {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Variables of the user and of the test runner that would change what the program prints or finds. */
const REMOVED = [
  "NO_COLOR",
  "FORCE_COLOR",
  "CODEXKIT_URL",
  "CODEXKIT_TOKEN",
  "CODEXKIT_STORE",
  "OPENAI_API_KEY",
  "CODEX_API_KEY",
  "CODEX_HOME",
  "CI",
];

export function cliEnvironment(env: CliOptions["env"] = {}): NodeJS.ProcessEnv {
  const removed = Object.fromEntries(REMOVED.map((name) => [name, undefined]));
  return { ...process.env, ...removed, TERM: "xterm-256color", ...env };
}

/** Runs the command line to its end, without a terminal. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<FinishedCli> {
  const child = startCli(args, options);
  child.stdin.end(options.input ?? "");
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    child.exitCode === null ? once(child, "close") : undefined,
  ]);
  return { exitCode: child.exitCode, stdout, stderr };
}

export function startCli(args: readonly string[], { cwd, env }: CliOptions = {}) {
  const child = spawn(process.execPath, [...CLI, ...args], {
    cwd,
    env: cliEnvironment(env),
    stdio: ["pipe", "pipe", "pipe"],
  });
  // A program that has already exited does not read its input.
  child.stdin.on("error", () => undefined);
  return child;
}
