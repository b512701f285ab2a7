import { tempFolder, type TempFolder } from "@codexkit/testing";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** A folder for one test, with an empty folder `root` in it for the files of a workspace. */
export async function temporaryRoot(name: string): Promise<{ folder: TempFolder; root: string }> {
  const folder = await tempFolder(name);
  const root = join(folder.path, "root");
  mkdirSync(root);
  return { folder, root };
}
