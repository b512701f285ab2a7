import type { Codex, LaunchOptions } from "codexkit";
import { launchCodex } from "codexkit/launch";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { lifetime } from "../process/lifetime.ts";
import { launchOptions } from "./launch-options.ts";

/** Options of `run` that neither change how codex is launched nor can be rejected because of their value. */
const NEUTRAL: ReadonlySet<string> = new Set([
  "--color",
  "--debug",
  "--effort",
  "--fork",
  "--json",
  "--model",
  "--no-color",
  "--output",
  "--resume",
  "-e",
  "-m",
  "-o",
]);

interface EarlyCodex {
  readonly options: LaunchOptions;
  readonly launching: Promise<Codex>;
}

let early: EarlyCodex | undefined;

/**
 * Launches codex for a `codexkit run` whose arguments are not parsed yet, if they clearly need a codex with the usual settings.
 * Resolves when the first request was sent to codex. If the command fails before it takes this codex, the exit of the process
 * ends it.
 */
export async function startEarlyCodex(args: readonly string[]): Promise<void> {
  if (!usesDefaultLaunch(args)) return;
  const options = launchOptions(process.env, { cwd: process.cwd(), signal: lifetime.signal });
  const { promise: isSent, resolve } = Promise.withResolvers<void>();
  const launching = launchCodex({ ...options, onPacket: () => resolve() });
  early = { options, launching };
  // A failure is reported by the command that takes this codex.
  await Promise.race([isSent, launching.catch(() => undefined)]);
  // Messages are written together, after the microtasks.
  await setImmediate();
}

/** Returns the codex that was launched early with these options, if any. Only once. */
export function takeEarlyCodex(options: LaunchOptions): Promise<Codex> | undefined {
  if (!early || !isDeepStrictEqual(early.options, options)) return undefined;
  const { launching } = early;
  early = undefined;
  return launching;
}

/** Whether the arguments of `run` have a prompt, and only options that don't matter for the launch. */
export function usesDefaultLaunch(args: readonly string[]): boolean {
  const flags = args.filter((arg) => arg.startsWith("-"));
  return flags.length < args.length && flags.every((flag) => NEUTRAL.has(flag.split("=", 1)[0] ?? ""));
}
