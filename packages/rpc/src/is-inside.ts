import { isAbsolute, relative, sep } from "node:path";

/** Whether a normalised absolute path is a folder or inside it. Doesn't resolve links. */
export function isInside(folder: string, path: string): boolean {
  const steps = relative(folder, path);
  return steps === "" || (!isAbsolute(steps) && steps !== ".." && !steps.startsWith(`..${sep}`));
}
