/** A type, not an interface, because a sample must be assignable to a record of measures. */
export type Effort = {
  /** Elapsed milliseconds: what a user waits, mostly for codex and the model. */
  readonly time: number;
  /**
   * Milliseconds of processor time of this process: the client's own cost, independent of other load on the
   * machine.
   */
  readonly "client cpu": number;
};

export async function timed(work: () => Promise<unknown>): Promise<Effort> {
  const computed = process.cpuUsage();
  const began = performance.now();
  await work();
  const time = performance.now() - began;
  const { user, system } = process.cpuUsage(computed);
  return { time, "client cpu": (user + system) / 1000 };
}

export function divided(effort: Effort, by: number): Effort {
  return { time: effort.time / by, "client cpu": effort["client cpu"] / by };
}
