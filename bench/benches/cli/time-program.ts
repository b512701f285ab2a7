import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

interface ProgramOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly signal: AbortSignal;
  /** Text that stdout must contain, so that a program that does nothing does not win. */
  readonly prints?: string;
}

/** Returns the milliseconds from the start of a program to its exit. */
export async function timeProgram(
  [command = "", ...args]: readonly string[],
  { env, cwd, signal, prints = "" }: ProgramOptions,
): Promise<number> {
  const began = performance.now();
  const child = spawn(command, args, {
    env,
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    signal,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  const took = performance.now() - began;
  if (child.exitCode !== 0 || !stdout.includes(prints)) {
    throw new Error(`${command} ${args.join(" ")} ended with ${child.exitCode}: ${stderr || stdout}`);
  }
  return took;
}
