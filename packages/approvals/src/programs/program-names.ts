import { matchName } from "../files/glob.ts";
import { baseName } from "../files/path.ts";

/** A program as a command calls it. */
export interface ProgramName {
  /** The name as written. */
  readonly text: string;
  readonly base: string;
  /** The name without a version, and the same for all names of one program. */
  readonly main: string;
  readonly version: string;
}

const VERSIONED = /^(python|pip|ruby|perl|php|lua|node|gcc|g\+\+|clang|clang\+\+)-?(\d[\d.]*)$/;

/** Other names of a program. Programs that share a declaration are not the same. */
const SAME_PROGRAM: ReadonlyMap<string, string> = new Map([
  ["bundler", "bundle"],
  ["gmake", "make"],
  ["gradlew", "gradle"],
  ["mvnw", "mvn"],
  ["nodejs", "node"],
  ["py.test", "pytest"],
  ["yarnpkg", "yarn"],
]);

export function readName(text: string): ProgramName {
  const base = baseName(text);
  const [, name = base, version = ""] = VERSIONED.exec(base) ?? [];
  return { text, base, main: SAME_PROGRAM.get(name) ?? name, version };
}

/** `python` is any version. `python3` also matches `python3.12`, and `python`, which may be Python 3. */
function isSameVersion(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}

/** Programs whose operands are any number of targets that run one after the other. */
export const TARGET_RUNNERS = new Set(
  "ant bazel gradle grunt gulp invoke just mage make meson mvn ninja nox rake sbt scons task tox".split(" "),
);

const NPM_LIKE: Readonly<Record<string, string>> = {
  a: "install",
  add: "install",
  i: "install",
  "run-script": "run",
  rum: "run",
  t: "test",
  tst: "test",
  urn: "run",
};

/** Other names of subcommands that their declarations lack. */
const VERBS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  bun: NPM_LIKE,
  cargo: { b: "build", c: "check", d: "doc", r: "run", rm: "remove", t: "test" },
  composer: { i: "install", req: "require", rm: "remove", u: "update", upgrade: "update" },
  git: { annotate: "blame", stage: "add" },
  ip: {
    a: "address",
    addr: "address",
    l: "link",
    n: "neighbour",
    neigh: "neighbour",
    r: "route",
  },
  npm: {
    ...NPM_LIKE,
    "clean-install": "ci",
    c: "config",
    create: "init",
    ic: "ci",
    info: "view",
    innit: "init",
    "install-clean": "ci",
    isnt: "install",
    isnta: "install",
    isntal: "install",
    isntall: "install",
    "isntall-clean": "ci",
    it: "install-test",
    ln: "link",
    r: "uninstall",
    remove: "uninstall",
    rm: "uninstall",
    show: "view",
    un: "uninstall",
    unlink: "uninstall",
    up: "update",
    upgrade: "update",
    v: "view",
    x: "exec",
  },
  pnpm: { ...NPM_LIKE, rm: "remove", un: "remove", uninstall: "remove", up: "update", upgrade: "update" },
  yarn: { ...NPM_LIKE, upgrade: "up" },
};

export function mainVerb(program: string, text: string): string {
  const verbs = Object.hasOwn(VERBS, program) ? VERBS[program] : undefined;
  return verbs !== undefined && Object.hasOwn(verbs, text) ? (verbs[text] ?? text) : text;
}

/** npm accepts any unambiguous prefix of a subcommand. */
function isAbbreviation(program: string, text: string, verb: string): boolean {
  return program === "npm" && text.length > 1 && verb.startsWith(text);
}

/** Whether the program name in a rule refers to the called program. */
export function isSameProgram(rule: ProgramName, called: ProgramName): boolean {
  const { text } = rule;
  if (text === called.text || text === called.base) return true;
  if (text.includes("*")) return matchName(text, called.base) || matchName(text, called.text);
  if (text.includes("/") && !/^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/.test(text)) {
    const path = text.replace(/^\.\//, "");
    return called.text === path || called.text.endsWith(`/${path}`);
  }
  return rule.main === called.main && isSameVersion(rule.version, called.version);
}

/** Whether a word is one of the subcommands, under any of their names. */
export function fitsVerb(program: string, verb: readonly string[], text: string | undefined): boolean {
  if (text === undefined) return false;
  const main = mainVerb(program, text);
  return verb.some((choice) => {
    if (choice === text) return true;
    if (choice.includes("*")) return matchName(choice, text);
    const wanted = mainVerb(program, choice);
    return wanted === main || isAbbreviation(program, text, wanted);
  });
}
