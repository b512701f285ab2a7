import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Describes every path below a folder. */
export function describeTree(path: string, prefix = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(path).toSorted()) {
    const absolute = join(path, name);
    const stats = lstatSync(absolute);
    const key = prefix + name;
    if (stats.isSymbolicLink()) found[key] = `-> ${readlinkSync(absolute)}`;
    else if (stats.isDirectory())
      Object.assign(found, { [`${key}/`]: "" }, describeTree(absolute, `${key}/`));
    else found[key] = `${(stats.mode & 0o777).toString(8)} ${readFileSync(absolute, "utf8")}`;
  }
  return found;
}
