import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Returns the paths of the JSON files in a folder, or none if the folder can't be read. */
export function listJsonFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}
