import { Codex } from "codexkit";
import { cpSync } from "node:fs";
import { relative, sep } from "node:path";
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
}
