import { mainVerb } from "./program-names.ts";

/** Words of a command, each with its alternatives. */
type Words = readonly (readonly string[])[];

/** One way to write a command. */
export interface CommandSpelling {
  readonly programs: readonly string[];
  readonly verbs: Words;
  /** A cluster matches if all of its options are used: `-rf` is `-r` and `-f`. */
  readonly options: Words;
  /** Set if only options may follow the name of the command: `yarn` installs. */
  readonly hasNoOperands: boolean;
}

/** All spellings of a command. A rule about one of them applies to the others. */
export function spellingsOf([programs = [], ...rest]: Words): readonly CommandSpelling[] {
  const isOption = (choices: readonly string[]): boolean => choices.every((word) => word.startsWith("-"));
  const verbs = rest.filter((choices) => !isOption(choices));
  const options = rest.filter(isOption);
  const hasNoOperands = false;
  const all = rewrite([programs, ...verbs]).map(([names = [], ...others]): CommandSpelling => ({
    programs: names,
    verbs: others,
    options,
    hasNoOperands,
  }));
  if (all.some((one) => one.programs.includes("yarn") && isOnly(one.verbs, "install")))
    all.push({ programs: ["yarn"], verbs: [], options, hasNoOperands: true });
  if (programs.includes("git") && isOnly(verbs, "branch") && options.some((names) => names.includes("-D")))
    all.push(
      { programs, verbs, options: [["-d"], ["-f"]], hasNoOperands },
      { programs, verbs, options: [["--delete"], ["--force"]], hasNoOperands },
    );
  return all;
}

function isOnly([first, ...others]: Words, text: string): boolean {
  return first?.includes(text) === true && others.length === 0;
}

function rewrite(words: Words): readonly Words[] {
  const all: Words[] = [words];
  const add = (from: readonly string[], to: readonly string[]): void => {
    const isWritten = from.every((word, index) =>
      words[index]?.some(
        (choice) => choice === word || (index > 0 && mainVerb(from[0] ?? "", choice) === word),
      ),
    );
    // `yarn run` alone is not every call of yarn.
    const isTooWide =
      words.length === from.length && to.length === 1 && from.length === 2 && to[0] === from[0];
    if (isWritten && !isTooWide) all.push([...to.map((word) => [word]), ...words.slice(from.length)]);
  };
  for (const [from, to] of REWRITINGS) {
    add(from, to);
    if (to.length > 1 || to[0] !== from[0]) add(to, from);
  }
  for (const [from, to] of IMPLICATIONS) add(from, to);
  return all;
}

/** Other ways to write the beginning of a command. A rule about the left applies to the right. */
const REWRITINGS: readonly (readonly [from: readonly string[], to: readonly string[]])[] = (
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

/** Commands that include others. A rule about the left applies to the right, but not the reverse. */
const IMPLICATIONS: readonly (readonly [from: readonly string[], to: readonly string[]])[] = (
  [
    ["npm install", "npm ci"],
    ["npm install", "npm install-test"],
    ["npm test", "npm install-test"],
    ["npm test", "npm install-ci-test"],
    ["npm run test", "npm install-test"],
  ] as const
).map(([from, to]) => [from.split(" "), to.split(" ")]);
