/** A type, not an interface: a sample has to be assignable to a record of measures. */
export type Effort = {
  /** Milliseconds on the clock: what a user waits, most of it for codex and the model. */
  readonly time: number;
  /** Milliseconds that this process computed: what the client itself costs, whatever else the machine does. */
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
