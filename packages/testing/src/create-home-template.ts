import { Codex } from "codexkit";
import { cpSync } from "node:fs";
import { relative, sep } from "node:path";
import { codexFolders } from "./codex-folders.ts";

/** The databases and skills that Codex creates. Everything else belongs to one home: configuration, ID, locks, threads. */
const REUSED = /^(?:skills|\.sandbox_migration|\w+\.sqlite(?:-wal|-shm)?)$/;

/** Lets Codex set up a home, and copies what can be reused to a folder. `codexFolders` copies it from there. */
export async function createHomeTemplate(template: string): Promise<void> {
  await using folders = await codexFolders({ model: [] });
  await (await Codex.launch({ env: folders.env, inheritEnv: false })).close();
  const isReused = (path: string): boolean => {
    const [name = ""] = relative(folders.codexHome, path).split(sep);
    return name === "" || REUSED.test(name);
  };
  cpSync(folders.codexHome, template, { recursive: true, filter: isReused });
}
