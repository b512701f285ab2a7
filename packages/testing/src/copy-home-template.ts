import { copyFileSync, linkSync, mkdirSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";

/** The variable that names a home from `createHomeTemplate`. */
const HOME_TEMPLATE = "CODEXKIT_HOME_TEMPLATE";

/** Copies the template, if there is one, to a new home. This saves Codex 0.1 s of CPU time and 50 `fsync` calls. */
export function copyHomeTemplate(home: string): void {
  const template = process.env[HOME_TEMPLATE];
  if (template === undefined) return;
  for (const entry of readdirSync(template, { recursive: true, withFileTypes: true })) {
    const from = join(entry.parentPath, entry.name);
    const to = join(home, relative(template, from));
    if (entry.isDirectory()) mkdirSync(to, { recursive: true });
    // Databases are copied, because Codex changes them in place. Skills can be shared, because Codex replaces them as a whole.
    else if (from.includes(".sqlite")) copyFileSync(from, to);
    else linkSync(from, to);
  }
}
