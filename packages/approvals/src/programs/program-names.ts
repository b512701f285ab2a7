import { baseName } from "../files/path.ts";

/** A program as a command calls it. */
export interface ProgramName {
  /** As it is written. */
  readonly text: string;
  readonly base: string;
  /** Without a version, and under one name for all that mean the same program. */
  readonly main: string;
  readonly version: string;
}

const VERSIONED = /^(python|pip|ruby|perl|php|lua|node|gcc|g\+\+|clang|clang\+\+)-?(\d[\d.]*)$/;

/** Names of one and the same program. Programs that share a declaration are not the same. */
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

/** `python` is any version; `python3` is also `python3.12`, and `python`, which may be it. */
export function isSameVersion(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}

/** Programs whose operands are targets that run one after the other, in any number. */
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

/** Other names of subcommands whose declarations do not have them. */
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

/** npm takes any beginning of a subcommand for it, unless several begin so. */
export function isAbbreviation(program: string, text: string, verb: string): boolean {
  return program === "npm" && text.length > 1 && verb.startsWith(text);
}

/** Other ways to write the beginning of a command: whatever a rule says about the left holds for the right. */
export const REWRITINGS: readonly (readonly [from: readonly string[], to: readonly string[]])[] = (
  [
    ["bun x", "bunx"],
    ["docker compose", "docker-compose"],
    ["docker container exec", "docker exec"],
    ["docker container ls", "docker ps"],
    ["docker container rm", "docker rm"],
    ["docker container run", "docker run"],
    ["docker image ls", "docker images"],
    ["docker image pull", "docker pull"],
    ["docker image push", "docker push"],
    ["docker image rm", "docker rmi"],
    ["npm run start", "npm start"],
    ["npm run test", "npm test"],
    ["pnpm dlx", "pnpx"],
    ["pnpm run start", "pnpm start"],
    ["pnpm run test", "pnpm test"],
    ["podman compose", "podman-compose"],
    ["podman image rm", "podman rmi"],
    ["yarn run", "yarn"],
    ["pnpm run", "pnpm"],
  ] as const
).map(([from, to]) => [from.split(" "), to.split(" ")]);

/** One command that does what several others do: a rule about the left holds for the right, but not the reverse. */
export const IMPLICATIONS: readonly (readonly [from: readonly string[], to: readonly string[]])[] = (
  [
    ["npm install", "npm ci"],
    ["npm install", "npm install-test"],
    ["npm test", "npm install-test"],
    ["npm test", "npm install-ci-test"],
    ["npm run test", "npm install-test"],
  ] as const
).map(([from, to]) => [from.split(" "), to.split(" ")]);
