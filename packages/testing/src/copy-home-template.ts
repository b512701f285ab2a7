import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

/** The variable that names a home from `createHomeTemplate`. */
const HOME_TEMPLATE = "CODEXKIT_HOME_TEMPLATE";

/** The template's folder of programs. */
export const PROGRAMS = "bin";

/** The folder of Codex's own skills. Homes can share it, because Codex replaces it as a whole. */
const SKILLS = join("skills", ".system");

/** A folder of programs that replace slow ones, if there is a template. */
export function templatePrograms(): string | undefined {
  const template = process.env[HOME_TEMPLATE];
  return template === undefined ? undefined : join(template, PROGRAMS);
}

/** Copies the template, if there is one, to a new home. This saves Codex 0.1 s of CPU time and 50 `fsync` calls. */
export function copyHomeTemplate(home: string): void {
  const template = process.env[HOME_TEMPLATE];
  if (template === undefined) return;
  for (const entry of readdirSync(template, { withFileTypes: true }))
    if (entry.isFile()) copyFileSync(join(template, entry.name), join(home, entry.name));
  if (!existsSync(join(template, SKILLS))) return;
  mkdirSync(join(home, "skills"), { recursive: true });
  symlinkSync(join(template, SKILLS), join(home, SKILLS), "junction");
}
