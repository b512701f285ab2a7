import { findCodexTarget } from "./codex-targets.ts";
import { type Machine, pathModule } from "./machine.ts";

/** Finds the native binary of the `@openai/codex` package that a file would import, or describes why there is none. */
export function findInstalledCodex(machine: Machine, from: string): { path: string } | { problem: string } {
  const target = findCodexTarget(machine.platform, machine.arch);
  if (target === undefined)
    return { problem: `@openai/codex has no build for ${machine.platform} ${machine.arch}` };
  const rules = pathModule(machine);
  const wrapper = machine.resolve("@openai/codex/package.json", from);
  if (wrapper === undefined) return { problem: `@openai/codex is not installed for ${rules.dirname(from)}` };
  const platformPackage = machine.resolve(`${target.packageName}/package.json`, wrapper);
  // The platform's package is an optional dependency: it is missing after `--omit=optional` or in a copied node_modules. Old
  // releases contained all builds in the main package.
  const folders = [platformPackage, wrapper].flatMap((file) =>
    file === undefined ? [] : [rules.dirname(file)],
  );
  const candidates = folders.flatMap((folder) =>
    target.binaries.map((parts) => rules.join(folder, ...parts)),
  );
  const path = candidates
    .map(toUnpackedPath)
    .find((candidate) => machine.inspectPath(candidate) === "executable");
  if (path !== undefined) return { path };
  return {
    problem:
      platformPackage === undefined
        ? `${rules.dirname(wrapper)} is installed, but its optional dependency ${target.packageName} is not`
        : `${rules.dirname(platformPackage)} has no executable binary`,
  };
}

/** Electron can't run files inside `app.asar`. It unpacks them into a folder next to it. */
function toUnpackedPath(path: string): string {
  return path.replace(/(?<archive>[\\/]app\.asar)(?=[\\/])/, "$<archive>.unpacked");
}
