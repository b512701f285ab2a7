import { findCodex } from "codexkit/process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { tempFolder } from "./temp-folder.ts";

/** Launch options for a managed codex. */
export interface ManagedCodex extends AsyncDisposable {
  readonly codexPath: string;
  readonly wrapperArgs: readonly string[];
}

/**
 * Prepares the pinned codex with an administrator's `requirements.toml`, which codex reads only from `/etc/codex`. To leave the
 * machine unchanged, codex runs in a mount namespace that contains the file. Linux only.
 */
export async function managedCodex(requirements: string): Promise<ManagedCodex> {
  await using made = new AsyncDisposableStack();
  const { path: folder } = made.use(await tempFolder("managed"));
  const managed = join(folder, "codex");
  await mkdir(managed);
  await writeFile(join(managed, "requirements.toml"), requirements);
  const { path: codex } = findCodex();
  const etc = (await readdir("/etc")).filter((name) => name !== "codex").map((name) => `/etc/${name}`);
  const mounts = [
    ["--dev-bind", "/", "/"],
    // Mount points can't be created in the real /etc, so all of it is remounted.
    ["--tmpfs", "/etc"],
    ...etc.map((path) => ["--ro-bind-try", path, path]),
    ["--ro-bind", managed, "/etc/codex"],
  ];
  const owner = made.move();
  return {
    codexPath: join(dirname(codex), "..", "codex-resources", "bwrap"),
    wrapperArgs: mounts.flat().concat("--die-with-parent", "--", codex),
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}
