import type { ServerLimits } from "../limits.ts";
import type { ChildSpec } from "./child.ts";
import type { FifoPool } from "./fifo-pool.ts";
import type { Launcher } from "./launcher.ts";
import type { ProcessGroups } from "./process-groups.ts";
import { spawnPiped } from "./spawn-piped.ts";

export interface CaptureDeps {
  readonly launcher: Launcher;
  readonly fifos: FifoPool;
  readonly groups: ProcessGroups;
  readonly limits: Pick<ServerLimits, "snapshotTimeoutMs" | "snapshotBytes">;
}

/** Time limit for reading the rest of a pipe after its child has exited. */
const SETTLE_MS = 200;

/**
 * Runs a child and collects its output until `read` can parse it. Undefined if the child exits before that, takes too long
 * or prints too much. In the last two cases its whole group is killed.
 */
export async function captureOutput<T>(
  spec: ChildSpec,
  { launcher, fifos, groups, limits }: CaptureDeps,
  read: (output: Buffer) => T | undefined,
): Promise<T | undefined> {
  const { promise: captured, resolve } = Promise.withResolvers<T | undefined>();
  const chunks: Buffer[] = [];
  let size = 0;
  let isTooLarge = false;
  const child = await spawnPiped(
    { ...spec, pipeStdin: false },
    { launcher, fifos },
    {
      output: (stream, bytes) => {
        if (stream !== "stdout" || isTooLarge) return;
        size += bytes.length;
        isTooLarge = size > limits.snapshotBytes;
        if (isTooLarge) resolve(undefined);
        // The buffer is reused by the next read.
        else chunks.push(Buffer.from(bytes));
      },
      exited: () => {
        // The last output may still be in the pipe, and a background process may keep the pipe open forever.
        setTimeout(() => resolve(isTooLarge ? undefined : read(Buffer.concat(chunks))), SETTLE_MS);
      },
      drained: () => resolve(isTooLarge ? undefined : read(Buffer.concat(chunks))),
    },
  );
  groups.add(child.pid);
  const limit = setTimeout(() => resolve(undefined), limits.snapshotTimeoutMs);
  const result = await captured;
  clearTimeout(limit);
  // Background processes started by a profile run until the session ends, as with any other command.
  if (result === undefined) groups.signal(child.pid, "SIGKILL");
  child.abandon();
  groups.leaderEnded(child.pid);
  return result;
}
