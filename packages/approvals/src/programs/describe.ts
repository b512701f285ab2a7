import type { Places } from "../files/places.ts";
import { isAbsolute } from "../files/path.ts";
import { readEndpoint } from "../network/endpoint.ts";
import { gitSubcommand } from "../shell/git-subcommand.ts";
import { interpreterFor } from "../shell/interpreters.ts";
import type { Invocation } from "../shell/invocation.ts";
import { readOptions } from "../shell/options.ts";
import { targetPaths } from "../shell/targets.ts";
import { UNKNOWN, type Value } from "../shell/value.ts";
import type { Effect } from "./effect.ts";
import { GIT_VERBS, PUBLISHING_VERBS, SIMPLE_PROGRAMS, VERB_PROGRAMS } from "./tables.ts";
import { TRANSFERS } from "./transfer.ts";
import { filesRead, WRITERS } from "./writers.ts";

const UNKNOWN_EFFECT: readonly Effect[] = [{ kind: "unknown" }];

/** What a command does, by its name and its arguments. A program that nobody here knows is `unknown`. */
export function describeCommand(invocation: Invocation, places: Places): readonly Effect[] {
  const { argv } = invocation;
  const [program] = argv;
  if (program === undefined || invocation.isFunction) return [];
  const name = knownName(program, invocation, places);
  if (name === undefined) return UNKNOWN_EFFECT;
  if (name === "") return [{ kind: "run" }];
  const args = argv.slice(1);
  const files: Effect = { kind: "read", files: filesRead(args) };
  // `node --version`: whatever the program is, this only prints a line or a page.
  if (args.length === 1 && /^--(?:version|help)$/.test(args[0]?.text ?? "") && isKnown(name))
    return [{ kind: "read" }];
  const writer = WRITERS.get(name);
  if (writer !== undefined) return writer(args) ?? UNKNOWN_EFFECT;
  const transfer = TRANSFERS.get(name);
  if (transfer !== undefined) return transfer(args);
  if (name === "git") return [...describeGit(args), files];
  const verbs = VERB_PROGRAMS.get(name);
  if (verbs !== undefined)
    return [
      ...unlessElsewhere(describeVerb(name, args, verbs), args, invocation, places),
      ...addresses(args),
      files,
    ];
  if (interpreterFor(name) !== undefined) return describeScript(args, invocation, places);
  const kind = SIMPLE_PROGRAMS.get(name);
  if (kind === undefined) return UNKNOWN_EFFECT;
  return kind === "read" ? [files] : [...unlessElsewhere([{ kind }], args, invocation, places), files];
}

/** `make -C folder`, `npm --prefix folder`: the code of another project, if the folder is not in this one. */
function unlessElsewhere(
  effects: readonly Effect[],
  args: readonly Value[],
  invocation: Invocation,
  places: Places,
): readonly Effect[] {
  // Most commands name no folder; this is looked at for every one of them.
  if (!args.some(({ text }) => text.startsWith("-"))) return effects;
  if (!effects.some(({ kind }) => kind === "run" || kind === "install")) return effects;
  const long = ["--prefix", "--dir", "--cwd", "--directory", "--manifest-path", "--rootdir", "--project-dir"];
  const options = readOptions(args, { short: "C", long });
  const folders = ["C", ...long].flatMap((key) => options.values.get(key) ?? []);
  const outside = folders.some((folder) =>
    targetPaths(folder, invocation, places).some((path) => path.startsWith("/") && !places.inWorkspace(path)),
  );
  return outside ? UNKNOWN_EFFECT : effects;
}

/** Addresses that a package manager is told to fetch from: judged like any other host. */
function addresses(args: readonly Value[]): readonly Effect[] {
  const urls = args.flatMap((arg) => {
    if (!arg.text.includes("://")) return [];
    const text = /(?:^|=|@\s*)(?:git\+)?((?:https?|ssh|git):\/\/\S+)$/.exec(arg.text)?.[1];
    return text === undefined ? [] : [readEndpoint(text)];
  });
  return urls.length === 0 ? [] : [{ kind: "network", endpoints: urls, sends: false }];
}

const SYSTEM_BIN =
  /^(?:\/usr(?:\/local)?|\/opt\/homebrew|\/opt\/local|\/nix\/var\/nix\/profiles\/default|\/snap)?\/s?bin$/;

/**
 * The name under which a program is known; empty for a program of the project, undefined for one from elsewhere.
 * `/usr/bin/git` is git; a file called `git` in some folder is not.
 */
function knownName(program: Value, invocation: Invocation, places: Places): string | undefined {
  const { text } = program;
  if (!text.includes("/") && !text.includes("\\")) return invocation.name;
  const slash = text.lastIndexOf("/");
  const base = text.slice(slash + 1);
  if (isAbsolute(text) && SYSTEM_BIN.test(text.slice(0, slash))) return base;
  const paths = targetPaths(program, invocation, places);
  if (paths.every((path) => !path.includes(UNKNOWN) && places.placeOf(path) === "workspace")) {
    // Tools that the project has installed are known by their own names.
    const known =
      /(?:^|\/)(?:node_modules\/\.bin|\.?venv\/bin|vendor\/bin)\/[^/]+$/.test(text) && isKnown(base);
    return known ? base : "";
  }
  const own = paths.every(
    (path) =>
      path.startsWith(`${places.home}/`) &&
      /\/(?:\.cargo|\.local|\.bun|\.deno|go|\.volta|\.npm-global)\/bin\/[^/]+$/.test(path),
  );
  return own && isKnown(base) ? base : undefined;
}

function isKnown(name: string): boolean {
  return (
    SIMPLE_PROGRAMS.has(name) ||
    VERB_PROGRAMS.has(name) ||
    WRITERS.has(name) ||
    interpreterFor(name) !== undefined
  );
}

function describeGit(args: readonly Value[]): readonly Effect[] {
  const { verb, rest, outer } = gitSubcommand(args);
  if (verb === undefined) return [{ kind: "read" }];
  const elsewhere = [
    ...(outer.values.get("C") ?? []),
    ...(outer.values.get("--work-tree") ?? []),
    ...(outer.values.get("--git-dir") ?? []),
  ];
  const kind = GIT_VERBS.get(verb.text);
  if (kind === undefined) return UNKNOWN_EFFECT;
  const second = readOptions(rest).operands[0]?.text;
  const output = writtenByGit(verb.text, rest);
  if (output.length > 0) return [{ kind }, { kind: "write", files: output }];
  if (onlyLists(verb.text, rest, second)) return [{ kind: "read" }];
  const effect: Effect[] = [{ kind }];
  if (
    verb.text === "config" &&
    second !== undefined &&
    rest.some(({ text }) => text === "--global" || text === "--system")
  ) {
    effect.push(readOptions(rest).operands.length > 1 ? { kind: "unknown" } : { kind: "read" });
  }
  if (
    verb.text === "remote" &&
    second !== undefined &&
    /^(?:add|set-url|remove|rm|rename|prune|update)$/.test(second)
  )
    effect.push({ kind: "commit" });
  if (verb.text === "submodule" && second === "update") effect.push({ kind: "sync" });
  if (verb.text === "clone")
    effect.push({
      kind: "write",
      files: readOptions(rest, {
        short: "bocj",
        long: ["--branch", "--depth", "--origin", "--config", "--reference", "--filter"],
      }).operands.slice(1),
    });
  const changes = kind === "commit" || kind === "sync";
  return changes && elsewhere.length > 0 ? [...effect, { kind: "write", files: elsewhere }] : effect;
}

/** `git diff --output=file`, `git archive -o file`, `git bundle create file`, `git apply --directory=folder`. */
function writtenByGit(verb: string, rest: readonly Value[]): readonly Value[] {
  if (!/^(?:diff|log|show|format-patch|archive|bundle|apply|am|range-diff|whatchanged)$/.test(verb))
    return [];
  const options = readOptions(rest, {
    short: /^(?:format-patch|archive)$/.test(verb) ? "o" : "",
    long: ["--output", "--output-directory", "--directory"],
  });
  const made =
    verb === "bundle" && options.operands[0]?.text === "create" ? options.operands.slice(1, 2) : [];
  return [
    ...made,
    ...["o", "--output", "--output-directory", "--directory"].flatMap(
      (name) => options.values.get(name) ?? [],
    ),
  ];
}

/** Commands that change things, in the form that only shows them. */
function onlyLists(verb: string, rest: readonly Value[], second: string | undefined): boolean {
  switch (verb) {
    case "branch":
    case "tag":
      return (
        second === undefined &&
        !rest.some(({ text }) =>
          /^-[a-zA-Z]*[dDmMcCfu]|^--(?:delete|move|copy|force|set-upstream|unset|edit)/.test(text),
        )
      );
    case "stash":
      return second === "list" || second === "show";
    case "worktree":
      return second === "list";
    case "submodule":
      return second === "status" || second === "summary";
    case "bisect":
      return second === "log" || second === "view";
    default:
      return false;
  }
}

function describeVerb(
  name: string,
  args: readonly Value[],
  verbs: NonNullable<ReturnType<typeof VERB_PROGRAMS.get>>,
): readonly Effect[] {
  const every = verbs.get("*");
  const { operands } = readOptions(args, {
    stopsAtOperand: true,
    short: "CFw",
    long: [
      "--dir",
      "--filter",
      "--prefix",
      "--workspace",
      "--cwd",
      "--context",
      "--namespace",
      "-chdir",
      "--manifest-path",
      "--config",
      "--directory",
      "--project",
      "--toolchain",
    ],
  });
  // Some verbs look like options: `npm --version`. A toolchain such as `cargo +nightly` comes before the verb.
  const verb = operands.find(({ text }) => !text.startsWith("+")) ?? args[0];
  if (verb === undefined) return name === "yarn" ? [{ kind: "install" }] : [{ kind: every ?? "read" }];
  const kind = verbs.get(verb.text) ?? verbs.get(args[0]?.text ?? "") ?? every;
  if (kind === undefined) {
    const help = args.some(({ text }) => text === "--help" || text === "--version" || text === "-h");
    // `bun x.ts`: a file of the project instead of a verb.
    if (name === "bun" && /^(?!\/|~|.*\.\.\/)[\w./@-]+\.[cm]?[jt]sx?$/.test(verb.text))
      return [{ kind: "run" }];
    return help ? [{ kind: "read" }] : UNKNOWN_EFFECT;
  }
  if (name === "gh" || name === "glab") return [describeHub(verb.text, operands[1]?.text ?? "", args)];
  if (
    name === "docker" &&
    (verb.text === "image" || verb.text === "container" || verb.text === "compose") &&
    operands[1]?.text === "push"
  )
    return [{ kind: "publish" }];
  return [{ kind }];
}

function describeHub(verb: string, second: string, args: readonly Value[]): Effect {
  // A call without a method or fields only asks.
  if (verb === "api")
    return {
      kind: args.some(({ text }) => /^-[XfF]|^--(?:method|field|raw-field|input)/.test(text))
        ? "publish"
        : "sync",
    };
  if (verb === "auth" && second === "token") return { kind: "credentials" };
  return PUBLISHING_VERBS.test(second) ? { kind: "publish" } : { kind: "sync" };
}

/** `python tools/x.py`, `bash build.sh`, `node --test`: the project's code if the file lies in the project. */
function describeScript(args: readonly Value[], invocation: Invocation, places: Places): readonly Effect[] {
  const options = readOptions(args, {
    short: "mWXrC",
    long: ["--require", "--import", "--loader", "--env-file"],
    stopsAtOperand: true,
  });
  const installs = options.values
    .get("m")
    ?.some(({ text }) => text === "pip" || text === "venv" || text === "ensurepip");
  if (installs === true) return [{ kind: "install" }];
  const [script] = options.operands;
  const loaded = [
    ...(options.values.get("--require") ?? []),
    ...(options.values.get("--import") ?? []),
    ...(options.values.get("r") ?? []),
  ];
  const outside = [
    ...loaded.filter(({ text }) => /^[./~]/.test(text)),
    ...(script === undefined ? [] : [script]),
  ].some((file) =>
    targetPaths(file, invocation, places).some((path) => path.includes(UNKNOWN) || !places.inWorkspace(path)),
  );
  return outside ? UNKNOWN_EFFECT : [{ kind: "run" }];
}
