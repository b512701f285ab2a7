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
  readonly limits: Pick<ServerLimits, "snapshotMs" | "snapshotBytes">;
}

/** How long the pipe of a child that is over may take to be read. */
const SETTLE_MS = 200;

/**
 * Runs a child and keeps what it prints until `read` makes something of it. Undefined when the child ends before that,
 * takes too long or prints too much: then its whole group is killed.
 */
export async function captureOutput<T>(
  spec: ChildSpec,
  { launcher, fifos, groups, limits }: CaptureDeps,
  read: (output: Buffer) => T | undefined,
): Promise<T | undefined> {
  const { promise: captured, resolve } = Promise.withResolvers<T | undefined>();
  const chunks: Buffer[] = [];
  let size = 0;
  let over = false;
  const child = await spawnPiped(
    { ...spec, pipeStdin: false },
    { launcher, fifos },
    {
      output: (stream, bytes) => {
        if (stream !== "stdout" || over) return;
        size += bytes.length;
        over = size > limits.snapshotBytes;
        if (over) resolve(undefined);
        // The bytes are lent.
        else chunks.push(Buffer.from(bytes));
      },
      exited: () => {
        // What was written last may still be in the pipe, and something in the background may hold it open for ever.
        setTimeout(() => resolve(over ? undefined : read(Buffer.concat(chunks))), SETTLE_MS);
      },
      drained: () => resolve(over ? undefined : read(Buffer.concat(chunks))),
    },
  );
  groups.add(child.pid);
  const limit = setTimeout(() => resolve(undefined), limits.snapshotMs);
  const result = await captured;
  clearTimeout(limit);
  // What a profile leaves running on purpose stays until the session ends, as it would with any other command.
  if (result === undefined) groups.signal(child.pid, "SIGKILL");
  child.abandon();
  groups.leaderEnded(child.pid);
  return result;
}
