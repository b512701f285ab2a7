import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempFolder extends AsyncDisposable {
  readonly path: string;
}

/** A folder that is gone when its owner is. */
export async function tempFolder(name = "test"): Promise<TempFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), `codexkit-${name}-`)));
  return {
    path,
    // A process that was just ended may still be writing its last file: try again for a moment.
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}
