import type { planCommand as plan } from "./plan-command.ts";
import type { runCommand as run } from "./run-command.ts";

/** As `planCommand`. Commands are rarer than messages, so that their code is loaded with the first one. */
export async function planCommand(...args: Parameters<typeof plan>): Promise<ReturnType<typeof plan>> {
  return (await import("./plan-command.ts")).planCommand(...args);
}

export async function runCommand(...args: Parameters<typeof run>): ReturnType<typeof run> {
  return (await import("./run-command.ts")).runCommand(...args);
}
