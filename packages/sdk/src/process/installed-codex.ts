import { codexTarget } from "./codex-targets.ts";
import { type FindWorld, pathRules } from "./find-world.ts";

/** The native binary of the `@openai/codex` that is installed for a file; with what was looked at and why it was not that. */
export function installedCodex(world: FindWorld, from: string): { path: string } | { looked: string } {
  const target = codexTarget(world.platform, world.arch);
  if (target === undefined)
    return { looked: `@openai/codex has no build for ${world.platform} ${world.arch}` };
  const rules = pathRules(world);
  const wrapper = world.resolve("@openai/codex/package.json", from);
  if (wrapper === undefined) return { looked: `@openai/codex is not installed for ${rules.dirname(from)}` };
  const platformPackage = world.resolve(`${target.packageName}/package.json`, wrapper);
  // The platform's package is optional to npm, and missing after `--omit=optional` or a copied node_modules. Old
  // releases had every build in the package itself.
  const folders = [platformPackage, wrapper].flatMap((file) =>
    file === undefined ? [] : [rules.dirname(file)],
  );
  const candidates = folders.flatMap((folder) =>
    target.binaries.map((parts) => rules.join(folder, ...parts)),
  );
  const path = candidates.map(outsideArchive).find((candidate) => world.look(candidate) === "executable");
  if (path !== undefined) return { path };
  return {
    looked:
      platformPackage === undefined
        ? `${rules.dirname(wrapper)} is there, but not its ${target.packageName} (npm left out the optional dependency)`
        : `${rules.dirname(platformPackage)} is there, but has no binary that can be run`,
  };
}

/** Electron shows files inside `app.asar` as if they were real, but nothing in there can be run: it unpacks those beside. */
function outsideArchive(path: string): string {
  return path.replace(/(?<archive>[\\/]app\.asar)(?=[\\/])/, "$<archive>.unpacked");
}
