import { cautioned, denied } from "../finding.ts";
import type { Places } from "../files/places.ts";
import type { Invocation } from "../shell/invocation.ts";
import { hasOption, readOptions } from "../shell/options.ts";
import { findStarts } from "../shell/runners/find.ts";
import { targetPaths } from "../shell/targets.ts";
import { UNKNOWN, type Value } from "../shell/value.ts";
import { forNames, type Check, type CheckTable } from "./check.ts";

const ALWAYS_RECURSIVE = new Set(["srm", "wipe", "gvfs-trash", "rimraf", "trash", "del-cli"]);

const remove: Check = (invocation, places) => {
  const options = readOptions(invocation.argv.slice(1), { short: "n", long: ["--iterations"] });
  const recursive =
    options.uncertain ||
    hasOption(options, "r", "R", "--recursive", "-recurse") ||
    ALWAYS_RECURSIVE.has(invocation.name);
  return judge(options.operands, recursive, invocation, places);
};

function judge(operands: readonly Value[], recursive: boolean, invocation: Invocation, places: Places) {
  let unresolved = false;
  let workspace = false;
  for (const operand of operands) {
    for (const path of targetPaths(operand, invocation, places)) {
      if (path.startsWith(UNKNOWN)) {
        unresolved = true;
        continue;
      }
      // What is unknown in a path may turn out empty: `"/$X"` is the root then.
      const worst = places.absolute(path.replaceAll(UNKNOWN, ""), "/");
      if ((recursive || operand.glob) && places.isPrecious(worst))
        return denied("delete-root", `deletes ${worst}`);
      if (path.includes(UNKNOWN)) unresolved = true;
      if (places.holdsWorkspace(worst.replace(/\/[^/]*[*?][^/]*$/, ""))) workspace = true;
    }
  }
  if (recursive && unresolved)
    return cautioned("unresolved-target", "deletes a folder whose name is known only when it runs");
  if (recursive && workspace) return cautioned("delete-workspace", "deletes the whole workspace");
  return undefined;
}

/** `gio trash`, `kioclient remove`: the verb says what happens to the operands. */
const desktopRemove: Check = (invocation, places) => {
  const [verb, ...operands] = readOptions(invocation.argv.slice(1)).operands;
  return /^(?:remove|trash|move|rename)$/.test(verb?.text ?? "")
    ? judge(operands, true, invocation, places)
    : undefined;
};

/** `find … -delete`: what is deleted lies below where the search starts. */
const findDelete: Check = (invocation, places) => {
  const args = invocation.argv.slice(1);
  if (!args.some(({ text }) => text === "-delete")) return undefined;
  const narrowed = args.some(({ text }) => /^-(?:i?name|i?path|i?regex|mtime|mmin|newer|empty)$/.test(text));
  const finding = judge(findStarts(args), true, invocation, places);
  return finding?.rule === "delete-workspace" && narrowed ? undefined : finding;
};

const move: Check = (invocation, places) => {
  const { operands, values } = readOptions(invocation.argv.slice(1), {
    short: "St",
    long: ["--suffix", "--target-directory"],
  });
  const folder = values.has("t") || values.has("--target-directory") ? undefined : operands.at(-1);
  for (const operand of operands) {
    for (const path of targetPaths(operand, invocation, places)) {
      if (path === "/dev/null") return denied("delete-root", "moves files into /dev/null");
      if (operand !== folder && !path.startsWith(UNKNOWN) && places.isPrecious(path))
        return denied("delete-root", `moves ${path} away`);
    }
  }
  return undefined;
};

const sync: Check = (invocation, places) => {
  const options = readOptions(invocation.argv.slice(1), {
    short: "efT",
    long: ["--rsh", "--exclude", "--include", "--filter", "--backup-dir"],
  });
  if (
    ![...options.flags].some((flag) => flag.startsWith("--del")) &&
    !hasOption(options, "--remove-source-files")
  )
    return undefined;
  if (hasOption(options, "--remove-source-files")) {
    const finding = judge(options.operands.slice(0, -1), true, invocation, places);
    if (finding !== undefined) return finding;
  }
  const last = options.operands.at(-1);
  const paths = last === undefined || /^[^/]*:/.test(last.text) ? [] : targetPaths(last, invocation, places);
  if (paths.some((path) => path.startsWith(UNKNOWN)))
    return cautioned("unresolved-target", "deletes in a folder that is not known");
  const precious = paths.find((path) => places.isPrecious(path));
  return precious === undefined ? undefined : denied("delete-root", `deletes in ${precious}`);
};

/** `tar --remove-files`, `zip -m`: what is packed is deleted. */
const packAway: Check = (invocation, places) => {
  const options = readOptions(invocation.argv.slice(1), {
    short: invocation.name === "zip" ? "xbnti" : "fCbXT",
    long: ["--file", "--directory", "--exclude", "--exclude-from", "--files-from"],
  });
  const removes =
    invocation.name === "zip" ? hasOption(options, "m", "--move") : hasOption(options, "--remove-files");
  return removes ? judge(options.operands, true, invocation, places) : undefined;
};

/** Recursive changes of mode or owner on absolute paths. */
const permissions: Check = (invocation, places) => {
  const options = readOptions(invocation.argv.slice(1), { long: ["--reference", "--from"] });
  const paths = hasOption(options, "--reference") ? options.operands : options.operands.slice(1);
  const recursive = options.uncertain || hasOption(options, "R", "--recursive");
  // `chmod 777 /*`, `find / -exec chmod …` and `cd / && chmod -R …` come to the same.
  for (const operand of paths) {
    const precious = targetPaths(operand, invocation, places).find(
      (path) => (recursive || operand.glob) && !path.includes(UNKNOWN) && places.isPrecious(path),
    );
    if (precious !== undefined)
      return denied("recursive-permissions", `changes the permissions of everything below ${precious}`);
  }
  if (!recursive) return undefined;
  const absolute = paths.find(
    ({ text }) => /^(?:[\\/]|[A-Za-z]:)/.test(text) || /(?:^|\/)\.\.(?:\/|$)/.test(text),
  );
  if (absolute !== undefined)
    return denied("recursive-permissions", `changes the permissions of everything below ${absolute.text}`);
  if (paths.some(({ text }) => text.includes(UNKNOWN)))
    return cautioned("unresolved-target", "changes permissions below a folder that is not known");
  return undefined;
};

export const DELETION: CheckTable = {
  ...forNames("rm grm srm wipe gvfs-trash unlink shred rmdir remove-item trash rimraf del del-cli", remove),
  ...forNames("find gfind", findDelete),
  ...forNames("mv gmv", move),
  rsync: sync,
  ...forNames("gio kioclient kioclient5", desktopRemove),
  ...forNames("tar gtar bsdtar zip", packAway),
  ...forNames("chmod chown chgrp setfacl gchmod gchown icacls takeown chflags xattr", permissions),
};
