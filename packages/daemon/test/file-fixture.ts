import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AllowedPaths } from "../src/files/allowed-paths.ts";

export interface FileFixture extends AsyncDisposable {
  /** The only folder that is served, with the file `file` in it. */
  readonly root: string;
  /** A folder beside it, with the file `secret` in it. */
  readonly outside: string;
  /** A folder below the root that is not served. */
  readonly denied: string;
  readonly paths: AllowedPaths;
}

export async function createFiles(): Promise<FileFixture> {
  const top = await realpath(await mkdtemp(join(tmpdir(), "codexkit-files-")));
  const [root, outside] = [join(top, "root"), join(top, "outside")];
  const denied = join(root, "state");
  for (const folder of [root, outside, denied]) await mkdir(folder);
  await writeFile(join(root, "file"), "inside");
  await writeFile(join(outside, "secret"), "outside");
  await writeFile(join(denied, "token"), "token");
  return {
    root,
    outside,
    denied,
    paths: new AllowedPaths([root], [denied]),
    [Symbol.asyncDispose]: async () => rm(top, { recursive: true, force: true }),
  };
}
