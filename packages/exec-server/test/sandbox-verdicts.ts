import { tempFolder } from "@codexkit/testing";
import { readFile, realpath, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ExecClient } from "../src/client/exec-client.ts";
import type { SandboxContext } from "../src/wire/sandbox-context.ts";
import { parseDenyPattern } from "../src/sandbox/deny-pattern.ts";
import { PROTECTED_NAMES } from "../src/sandbox/mount-plan.ts";
import { ExecError } from "../src/errors.ts";
import {
  contextOf,
  makeCase,
  plant,
  randomFrom,
  SECRET,
  type SandboxAction,
  type SandboxCase,
  scriptOf,
} from "./sandbox-cases.ts";
import { startServer } from "./servers.ts";

/** One letter per action, or why nothing ran. */
type Outcome = { readonly verdicts: string } | { readonly refusal: string };

interface Difference {
  readonly seed: number;
  readonly action: SandboxAction | undefined;
  readonly ours: string;
  readonly codex: string;
  readonly profile: SandboxCase;
}

interface Comparison {
  /** Actions whose verdicts were compared. */
  cases: number;
  readonly explained: Map<string, number>;
  /** One line for each, with all that is needed to repeat it. */
  readonly unexplained: string[];
}

/** Every difference that is known, with its reason. In all of them our server is the stricter one, or Codex fails. */
const REASONS: Readonly<Record<string, (difference: Difference) => boolean>> = {
  "Codex's own sandbox fails to start: it mounts a placeholder over another, or below a file": ({
    ours,
    codex,
  }) => ours === "ran" && /bwrap: Can't|panicked at/.test(codex),
  "a pattern that matches a folder denies the folder; Codex compares patterns with files only": (
    difference,
  ) =>
    isStricter(difference) &&
    pathsAbove(difference.action?.path).some((path) => isDeniedByPattern(path, difference.profile)),
  "a folder above a protected path can't be renamed; in Codex's sandbox the next command finds nothing to protect":
    (difference) =>
      isStricter(difference) &&
      difference.action?.kind === "rename" &&
      restrictedPaths(difference.profile).some((path) => path.startsWith(`${difference.action?.path}/`)),
  "on an empty disk Codex makes the folders above a denied path, empty and in memory": (difference) =>
    isStricter(difference) &&
    difference.profile.base === "minimal" &&
    difference.profile.rules.some(
      ({ path, access }) => access === "deny" && path.startsWith(`${folderOf(difference.action)}/`),
    ),
  "a root behind a link in a writable folder is refused; Codex follows the link, which a command could have replaced":
    ({ ours, codex, profile }) =>
      ours.includes("could be replaced") &&
      codex === "ran" &&
      profile.rules.some((rule) => profile.links.some((link) => isAtOrBelow(rule.path, link.path))),
  "the repository that a .git file names can't be created either": (difference) =>
    isStricter(difference) && difference.profile.gitFile === "gone",
};

/** Which profiles are generated, and how many actions are tried under each. */
export interface CaseRange {
  readonly firstSeed: number;
  readonly profiles: number;
  readonly actions: number;
}

/** Compares commands on our server with those on Codex's own, under generated profiles. */
export async function compareServers(ranges: readonly CaseRange[]): Promise<Comparison> {
  await using folder = await tempFolder("conformance");
  await using ownServer = await startServer("ours");
  await using codexServer = await startServer("codex");
  await using ours = await ExecClient.connect(ownServer.url);
  await using codex = await ExecClient.connect(codexServer.url);
  const comparison: Comparison = { cases: 0, explained: new Map(), unexplained: [] };
  for (const { seed, profile } of casesIn(ranges)) {
    const own = await outcomeOf(ours, join(folder.path, `o${seed}`), profile);
    const expected = await outcomeOf(codex, join(folder.path, `c${seed}`), profile);
    for (const difference of differencesBetween(seed, profile, own, expected)) {
      const reason = Object.keys(REASONS).find((name) => REASONS[name]?.(difference));
      if (reason === undefined) comparison.unexplained.push(describeDifference(difference));
      else comparison.explained.set(reason, (comparison.explained.get(reason) ?? 0) + 1);
    }
    comparison.cases += profile.actions.length;
  }
  return comparison;
}

/** Compares file operations with commands, both on our server. */
export async function compareFileOperations(
  ranges: readonly CaseRange[],
): Promise<Pick<Comparison, "cases" | "unexplained">> {
  await using folder = await tempFolder("conformance");
  await using server = await startServer("ours");
  await using client = await ExecClient.connect(server.url);
  const unexplained: string[] = [];
  let cases = 0;
  for (const { seed, profile: made } of casesIn(ranges)) {
    const profile = { ...made, actions: made.actions.filter(({ kind }) => kind in FILE_OPERATIONS) };
    const root = join(folder.path, `f${seed}`);
    const commands = await outcomeOf(client, root, profile);
    await plant(root, profile);
    const sandbox = contextOf(root, profile);
    for (const [index, { kind, path }] of profile.actions.entries()) {
      // A disk that is readable everywhere is read without a sandbox, so there is none that could be refused.
      if ("refusal" in commands && isRead(kind) && isReadableEverywhere(profile)) continue;
      const verdict = await FILE_OPERATIONS[kind]?.(client, join(root, path), sandbox).then(
        (succeeded) => (succeeded ? "y" : "n"),
        () => "n",
      );
      const expected = "refusal" in commands ? "n" : commands.verdicts[index];
      if (verdict !== expected)
        unexplained.push(`seed ${seed}: ${kind} ${path}: ${verdict}, command: ${expected}`);
      cases += 1;
    }
    await rm(root, { recursive: true, force: true });
  }
  return { cases, unexplained };
}

function* casesIn(ranges: readonly CaseRange[]): Generator<{ seed: number; profile: SandboxCase }> {
  for (const { firstSeed, profiles, actions } of ranges) {
    for (let seed = firstSeed; seed < firstSeed + profiles; seed += 1) {
      yield { seed, profile: makeCase(randomFrom(seed), actions) };
    }
  }
}

function isRead(kind: SandboxAction["kind"]): boolean {
  return kind === "read" || kind === "list";
}

function isReadableEverywhere({ base, rules, globs }: SandboxCase): boolean {
  return base !== "minimal" && globs.length === 0 && rules.every(({ access }) => access !== "deny");
}

type FileAttempt = (client: ExecClient, path: string, sandbox: SandboxContext) => Promise<boolean>;

/**
 * The actions that are also file operations. Each leaves everything as it was. A path that was just created may
 * be denied to the next operation, so the test removes it as well.
 */
const FILE_OPERATIONS: Readonly<Partial<Record<SandboxAction["kind"], FileAttempt>>> = {
  read: async ({ files }, path, sandbox) => String(await files.read(path, { sandbox })) === SECRET,
  list: async ({ files }, path, sandbox) => (await files.list(path, { sandbox })).length > 0,
  append: async ({ files }, path, sandbox) => {
    if (!(await files.metadata(path, { sandbox })).isFile) return false;
    await files.write(path, await readFile(path), { sandbox });
    return true;
  },
  create: async ({ files }, path, sandbox) => {
    if (await exists(files.metadata(path, { sandbox }))) return false;
    await files.write(path, "", { sandbox });
    await clearUp(files, path, sandbox);
    return true;
  },
  mkdir: async ({ files }, path, sandbox) => {
    if (await exists(files.metadata(path, { sandbox }))) return false;
    await files.makeDirectory(path, { sandbox, recursive: false });
    await clearUp(files, path, sandbox);
    return true;
  },
};

/** In the sandbox, because on an empty disk a path may exist in the helper's memory only, and then on the disk. */
async function clearUp(files: ExecClient["files"], path: string, sandbox: SandboxContext): Promise<void> {
  const target = await realpath(path).catch(() => path);
  await files.remove(path, { sandbox }).catch(() => {});
  await rm(target, { recursive: true, force: true });
}

function exists(metadata: Promise<unknown>): Promise<boolean> {
  return metadata.then(
    () => true,
    () => false,
  );
}

async function outcomeOf(client: ExecClient, root: string, profile: SandboxCase): Promise<Outcome> {
  await plant(root, profile);
  try {
    const started = await client.start({
      argv: ["/bin/sh", "-c", scriptOf(root, profile.actions)],
      cwd: "/",
      sandbox: contextOf(root, profile),
    });
    const { stdout, stderr } = await started.collect();
    const verdicts = /^verdicts:(?<letters>[yn]*)$/m.exec(String(stdout))?.groups?.["letters"];
    return verdicts?.length === profile.actions.length ? { verdicts } : { refusal: String(stderr) };
  } catch (error) {
    if (error instanceof ExecError && error.rpcCode === -32602) return { refusal: error.message };
    throw error;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function differencesBetween(seed: number, profile: SandboxCase, ours: Outcome, codex: Outcome): Difference[] {
  if ("refusal" in ours || "refusal" in codex) {
    if ("refusal" in ours && "refusal" in codex) return [];
    const text = (outcome: Outcome): string => ("refusal" in outcome ? outcome.refusal : "ran");
    return [{ seed, profile, action: undefined, ours: text(ours), codex: text(codex) }];
  }
  return profile.actions.flatMap((action, index) => {
    const [mine, theirs] = [ours.verdicts.charAt(index), codex.verdicts.charAt(index)];
    return mine === theirs ? [] : [{ seed, profile, action, ours: mine, codex: theirs }];
  });
}

function isStricter({ ours, codex }: Difference): boolean {
  return ours === "n" && codex === "y";
}

/** The folder that an action works in. */
function folderOf(action: SandboxAction | undefined): string {
  if (!action) return "";
  return action.kind === "list" || action.kind === "rename" ? action.path : dirname(action.path);
}

function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function pathsAbove(path: string | undefined): string[] {
  if (path === undefined || path === ".") return [];
  return [path, ...pathsAbove(dirname(path))];
}

function isDeniedByPattern(path: string, { globs, folders, workspaceRoots }: SandboxCase): boolean {
  if (!folders.includes(path)) return false;
  const context = { cwd: "/R/ws", workspaceRoots: workspaceRoots.map((root) => `/R/${root}`) };
  return globs
    .flatMap((glob) => parseDenyPattern(glob.replace("$R", "/R"), context))
    .some(({ base, matches }) => {
      if (!matches) return base === `/R/${path}`;
      return `/R/${path}`.startsWith(`${base}/`) && matches(`/R/${path}`.slice(base.length + 1));
    });
}

function restrictedPaths({ rules, workspaceRoots, files, folders, globs }: SandboxCase): string[] {
  const writable = [
    ...workspaceRoots,
    ...rules.filter(({ access }) => access === "write").map(({ path }) => path),
  ];
  return [
    ...rules.map(({ path }) => path),
    ...writable.flatMap((root) => PROTECTED_NAMES.map((name) => `${root}/${name}`)),
    ...(globs.length > 0 ? [...files, ...folders] : []),
  ];
}

/** A difference as one line, with all that is needed to repeat it. */
function describeDifference({ seed, action, ours, codex, profile }: Difference): string {
  const { rules, globs, links, base, workspaceRoots, scanDepth, gitFile } = profile;
  const shown = JSON.stringify({ rules, globs, links, base, workspaceRoots, scanDepth, gitFile });
  return `seed ${seed}: ${action ? `${action.kind} ${action.path}` : "start"}: ours ${ours}, codex ${codex}; ${shown}`;
}
