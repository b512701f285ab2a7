import type { Codex, LaunchOptions } from "codexkit";
import { launchCodex } from "codexkit/launch";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { lifetime } from "../process/lifetime.ts";
import { launchOptions } from "./launch-options.ts";

/** Options of `run` that don't affect how codex is launched and can't be rejected because of their value. */
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
 * Launches codex for a `codexkit run` whose arguments have not been parsed yet, if they clearly need a codex
 * with the default settings. Resolves when the first request has been sent to codex. If the command fails
 * before it uses this codex, codex ends when the process exits.
 */
export async function startEarlyCodex(args: readonly string[]): Promise<void> {
  if (!usesDefaultLaunch(args)) return;
  const options = launchOptions(process.env, { cwd: process.cwd(), signal: lifetime.signal });
  const { promise: isSent, resolve } = Promise.withResolvers<void>();
  const launching = launchCodex({ ...options, onPacket: () => resolve() });
  early = { options, launching };
  // If the launch fails, the command that uses this codex reports it.
  await Promise.race([isSent, launching.catch(() => undefined)]);
  // Messages are written in batches, after the microtasks.
  await setImmediate();
}

/** Returns the codex that was launched early, if it was launched with these options. Returns it only once. */
export function claimEarlyCodex(options: LaunchOptions): Promise<Codex> | undefined {
  if (!early || !isDeepStrictEqual(early.options, options)) return undefined;
  const { launching } = early;
  early = undefined;
  return launching;
}

/** Whether the arguments of `run` contain a prompt and no options that affect the launch. */
export function usesDefaultLaunch(args: readonly string[]): boolean {
  const flags = args.filter((arg) => arg.startsWith("-"));
  return flags.length < args.length && flags.every((flag) => NEUTRAL.has(flag.split("=", 1)[0] ?? ""));
}
