import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SandboxContext } from "../src/client/index.ts";

type Managed = Extract<SandboxContext["permissions"], { type: "managed" }>;
type Entry = Extract<Managed["file_system"], { type: "restricted" }>["entries"][number];

/** A random choice that can be repeated. */
export type Random = <T>(choices: readonly T[]) => T;

/** One folder tree, one profile, and what is tried under it. Paths are relative to the folder of the case. */
export interface SandboxCase {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  readonly gitFile: string | undefined;
  readonly rules: readonly { readonly path: string; readonly access: "read" | "write" | "deny" }[];
  readonly globs: readonly string[];
  readonly base: "read" | "minimal" | "write";
  readonly workspaceRoots: readonly string[];
  readonly scanDepth: number | undefined;
  readonly actions: readonly SandboxAction[];
}

export interface SandboxAction {
  readonly kind: keyof typeof ACTIONS;
  readonly path: string;
}

/** What is in every file: an action reads a file only if it sees this. */
export const SECRET = "top-secret";

/** Each leaves everything as it was, so that the actions of one case don't depend on each other. */
const ACTIONS = {
  read: 'grep -q top-secret "$1"',
  list: '[ -n "$(ls -A "$1/")" ]',
  append: '[ -f "$1" ] && true >> "$1"',
  create: '[ ! -e "$1" ] && true > "$1" && rm "$1"',
  mkdir: '[ ! -e "$1" ] && mkdir "$1" && rmdir "$1"',
  rename: 'mv -T "$1" "$1.moved" && mv -T "$1.moved" "$1"',
  replace: '[ -f "$1" ] && cp -p "$1" "$1.copy" && mv -T "$1.copy" "$1"',
  link: 'ln -s nowhere "$1" && rm "$1"',
} as const;
export const ACTION_KINDS = Object.keys(ACTIONS) as readonly SandboxAction["kind"][];

const FOLDERS = [
  "ws",
  "ws/a",
  "ws/a/b",
  "ws/.h",
  "ws/d.env",
  "two",
  "two/a",
  "out",
  "out/a",
  "ws/nest",
  "ws/nest/in",
];
const FILE_NAMES = [".env", "x.env", "f.txt", "k.pem", ".hidden"];
const MISSING = [
  "ws/no",
  "ws/a/no",
  "ws/no/deep",
  "out/no",
  "two/no.env",
  "ws/a/no.env",
  "ws/.codex",
  "ws/.git",
  "ws/.aws/x",
];
const GLOBS = [
  "**/*.env",
  "**/.env",
  "*.env",
  "a/*.txt",
  "**/b/*",
  "**/*.{pem,env}",
  "**/[!x]*.env",
  "a/**",
  "**/k.pem",
  "**/.h*",
  "?.txt",
];
const ACCESS = ["read", "write", "deny", "deny"] as const;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return <T>(choices: readonly T[]) => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const index = ((mixed ^ (mixed >>> 14)) >>> 0) % choices.length;
    // In a box, because a choice may be undefined.
    const chosen = choices.map((choice) => ({ choice }))[index];
    if (!chosen) throw new RangeError("there is nothing to choose from");
    return chosen.choice;
  };
}

export function makeCase(pick: Random, actionCount: number): SandboxCase {
  const some = <T>(choices: readonly T[], counts: readonly number[]): T[] =>
    Array.from({ length: pick(counts) }, () => pick(choices));
  const folders = FOLDERS.filter((path) => path === "ws" || path === "out" || pick([true, true, false]));
  const known = new Set(folders);
  const reachable = folders.filter((path) => !path.includes("/") || known.has(dirname(path)));
  const git = pick(["none", "none", "folder", "file", "missing-target", "link"] as const);
  const all = [
    ...reachable,
    ...(git === "folder" ? ["ws/.git"] : []),
    ...(git === "file" ? ["ws/gitdir"] : []),
  ];
  const files = all.flatMap((folder) => some(FILE_NAMES, [1, 2, 3]).map((name) => `${folder}/${name}`));
  const links = [
    ...(git === "link" ? [{ path: "ws/.git", target: pick(["a", "../out", "nowhere"]) }] : []),
    ...(pick([true, false, false, false])
      ? [
          {
            path: pick(["ws/ln", "out/ln", "ws/l.env"]),
            target: pick(["../ws/a", "../out", "../ws/f.txt", "none"]),
          },
        ]
      : []),
  ];
  const paths = [...all, ...files, ...MISSING, ...links.map(({ path }) => path)];
  const globs = some(GLOBS, [0, 0, 1, 1, 2]).map((pattern) =>
    pick([
      `codex-project-roots://${pattern}`,
      `codex-project-roots://${pattern}`,
      `$R/ws/${pattern}`,
      pattern,
    ]),
  );
  return {
    files: [...new Set(files)],
    folders: all,
    links,
    gitFile: git === "file" ? "gitdir" : git === "missing-target" ? "gone" : undefined,
    rules: some(paths, [0, 1, 1, 2, 3]).map((path) => ({ path, access: pick(ACCESS) })),
    globs,
    base: pick(["read", "read", "read", "minimal", "minimal"] as const),
    workspaceRoots: known.has("two") ? pick([["ws"], ["ws", "two"]]) : ["ws"],
    scanDepth: globs.length > 0 ? pick([undefined, undefined, undefined, 1, 2, 3]) : undefined,
    actions: Array.from({ length: actionCount }, () => {
      const kind = pick(ACTION_KINDS);
      const isNew = kind === "create" || kind === "mkdir" || kind === "link";
      const target = pick(isNew ? [...all.map((folder) => `${folder}/new`), ...MISSING] : paths);
      return { kind, path: kind === "list" ? pick([...all, target]) : target };
    }),
  };
}

/** Makes the tree of a case. */
export async function plant(root: string, { files, folders, links, gitFile }: SandboxCase): Promise<void> {
  for (const path of folders) await mkdir(join(root, path), { recursive: true });
  for (const path of files) await writeFile(join(root, path), SECRET);
  for (const { path, target } of links) await symlink(target, join(root, path));
  if (gitFile !== undefined) await writeFile(join(root, "ws/.git"), `gitdir: ${gitFile}\n`);
}

export function contextOf(root: string, profile: SandboxCase): SandboxContext {
  const uri = (path: string): string => `file://${join(root, path)}`;
  const special = (kind: "root" | "minimal" | "project_roots", access: Entry["access"]): Entry => ({
    path: { type: "special", value: { kind } },
    access,
  });
  const entries: Entry[] = [
    profile.base === "minimal" ? special("minimal", "read") : special("root", profile.base),
    special("project_roots", "write"),
    ...profile.rules.map(({ path, access }): Entry => ({ path: { type: "path", path: uri(path) }, access })),
    ...profile.globs.map((pattern): Entry => ({
      path: { type: "glob_pattern", pattern: pattern.replace("$R", () => root) },
      access: "deny",
    })),
  ];
  const depth = profile.scanDepth === undefined ? {} : { glob_scan_max_depth: profile.scanDepth };
  return {
    permissions: {
      type: "managed",
      network: "restricted",
      file_system: { type: "restricted", entries, ...depth },
    },
    policyContext: { cwd: uri("ws"), workspaceRoots: profile.workspaceRoots.map(uri) },
    windowsSandboxLevel: "disabled",
  };
}

/** A script that tries every action and prints one letter for each: `y` if it succeeded, `n` if not. */
export function scriptOf(root: string, actions: readonly SandboxAction[]): string {
  const functions = ACTION_KINDS.map((kind) => `do_${kind}() { ${ACTIONS[kind]}; }`).join("\n");
  const tries = actions.map(({ kind, path }) => `try do_${kind} '${join(root, path)}'`).join("\n");
  return `${functions}\ntry() { if "$@" >/dev/null 2>&1; then printf y; else printf n; fi; }\nprintf 'verdicts:'\n${tries}\nprintf '\\n'`;
}
