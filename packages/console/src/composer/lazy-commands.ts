import type { planCommand as plan } from "./plan-command.ts";
import type { runCommand as run } from "./run-command.ts";

/** The same as `planCommand`, loaded with the first command, because commands are rarer than messages. */
export async function planCommand(...args: Parameters<typeof plan>): Promise<ReturnType<typeof plan>> {
  return (await import("./plan-command.ts")).planCommand(...args);
}

export async function runCommand(...args: Parameters<typeof run>): ReturnType<typeof run> {
  return (await import("./run-command.ts")).runCommand(...args);
}
