import { Codex } from "codexkit";
import { cpSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { codexFolders } from "./codex-folders.ts";

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
  for (const name of readdirSync(template)) if (name.endsWith(".sqlite")) emptyLog(join(template, name));
}

/** Moves the write-ahead log of a database, which is 2 MB after its creation, to its file. */
function emptyLog(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
}
