import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempFolder extends AsyncDisposable {
  readonly path: string;
}

/** Creates a folder that is removed when it is disposed. */
export async function tempFolder(name = "test"): Promise<TempFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), `codexkit-${name}-`)));
  return {
    path,
    // Retries, because a process that has just ended may still have been writing its last file.
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}
