import { Codex } from "codexkit";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { codexFolders } from "./codex-folders.ts";
import { PROGRAMS } from "./copy-home-template.ts";

/** The databases and skills that Codex creates. Everything else is specific to a home: configuration, id, locks, threads. */
const REUSED = /^(?:skills|\.sandbox_migration|\w+\.sqlite(?:-wal|-shm)?)$/;

/** Lets Codex set up a home and copies the reusable files to a folder, from which `codexFolders` copies them. */
export async function createHomeTemplate(template: string): Promise<void> {
  await using folders = await codexFolders({ model: [] });
  await (await Codex.launch({ env: folders.env, inheritEnv: false })).close();
  const isReused = (path: string): boolean => {
    const [name = ""] = relative(folders.codexHome, path).split(sep);
    return name === "" || REUSED.test(name);
  };
  cpSync(folders.codexHome, template, { recursive: true, filter: isReused });
  mkdirSync(join(template, PROGRAMS));
  // Codex asks it for the name of the system. On Debian, it is a script that starts 25 processes. If it fails, Codex reads a file.
  if (process.platform === "linux") symlinkSync("/bin/false", join(template, PROGRAMS, "lsb_release"));
  for (const name of readdirSync(template)) if (name.endsWith(".sqlite")) emptyLog(join(template, name));
}

/** Moves the write-ahead log of a database, which is 2 MB after its creation, to its file. */
function emptyLog(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
}
