import { baseName } from "../files/path.ts";
import { LIMITS } from "../limits.ts";
import type { Denial } from "./catastrophic.ts";
import { DOWNLOADERS, INTERPRETERS, runsInput, SENDERS } from "./known-by-name.ts";

type Words = readonly string[];

const SECRET =
  /(?:^|[\s/@=~'"])\.(?:ssh|aws|gnupg|netrc|kube\/config|docker\/config\.json|npmrc|pypirc|git-credentials|codex\/auth\.json)\b|\/etc\/shadow|\bid_(?:rsa|dsa|ecdsa|ed25519)\b/;
const ENVIRONMENT = /(?:^|[\s;&|('"`])(?:env|printenv|export -p|declare -x)\s{0,8}(?:\||\))/;

/** Matches code that deletes everything, in a shell or another language. */
const DELETES_ALL =
  /\brm\s{1,8}(?:-[-\w]{1,20}\s{1,8}){0,6}-\w{0,8}[rR]\w{0,8}\s{1,8}(?:-[-\w]{1,20}\s{1,8}){0,6}["']?(?:\/{1,8}\.?|~|\$HOME|\$\{HOME\}|\/(?:bin|boot|dev|etc|home|lib|lib64|opt|root|sbin|sys|usr|var|Users))["']?\/?\*?(?=[\\'"`\s);]|$)|\b(?:rmtree|removeSync|rmSync)\(\s{0,8}['"](?:\/|~)['"]/;

/** Matches an interactive shell whose output goes to the network. */
const SHELL_TO_NETWORK =
  /\b(?:ba|da|k|z)?sh\s{1,8}-\w{0,3}i\b[^\n]{0,200}\|\s{0,8}(?:nc|ncat|netcat|socat|telnet)\b/;

export const RUNS_DOWNLOAD: Denial = { rule: "download-to-shell", reason: "runs what it downloads" };

/** Finds a catastrophe that several commands of a script cause together. */
export function findFlow(source: string, calls: readonly Words[]): Denial | undefined {
  const uses = (programs: ReadonlySet<string>): boolean =>
    calls.some(([first = ""]) => programs.has(baseName(first)));
  return (
    (uses(SENDERS) ? findExfiltration(source.slice(0, LIMITS.syntaxChars)) : undefined) ??
    (uses(DOWNLOADERS) ? findDownloadedCode(source.slice(0, LIMITS.syntaxChars), calls) : undefined)
  );
}

/** Secrets, or the whole environment, in the same script as a program that sends count as one flow. */
function findExfiltration(source: string): Denial | undefined {
  // An identity file is used to log in, and is not sent.
  const text = source.replaceAll(/(?:^|\s)-i\s{1,8}\S+/g, " ");
  if (SHELL_TO_NETWORK.test(source))
    return { rule: "reverse-shell", reason: "connects a shell to the network" };
  return SECRET.test(text) || ENVIRONMENT.test(text)
    ? { rule: "exfiltration", reason: "reads credentials and uses the network" }
    : undefined;
}

/** Matches `> file` after a download, and a download as the input of a command: `bash <<< "$(curl …)"`. */
const SAVED =
  /\b(?:aria2c|curl|fetch|https?|lynx|wget|xh)\b[^\n;|&>]{0,400}>{1,2}\s{0,8}["']?([^\s;|&<>"']{1,200})/g;
const AS_INPUT = /<<<\s{0,8}"?(?:\$\(|`)\s{0,8}(?:aria2c|curl|fetch|wget)\b/;

/** Finds a file that one command downloads and a later one runs. */
function findDownloadedCode(source: string, calls: readonly Words[]): Denial | undefined {
  if (source.includes("<<<") && AS_INPUT.test(source) && calls.some(runsInput)) return RUNS_DOWNLOAD;
  const saved = source.includes(">") ? source.matchAll(SAVED) : [];
  const downloaded = new Set(Array.from(saved, ([, file = ""]) => baseName(file)));
  for (const [first = "", ...args] of calls) {
    const name = baseName(first);
    if (downloaded.size > 0) {
      const runs = INTERPRETERS.test(name) || name === "source" || name === ".";
      const script = runs ? args.find((arg) => !arg.startsWith("-")) : undefined;
      const file = script ?? (first.includes("/") ? first : undefined);
      if (file !== undefined && downloaded.has(baseName(file))) return RUNS_DOWNLOAD;
    }
    if (!DOWNLOADERS.has(name)) continue;
    for (const arg of args) downloaded.add(baseName(arg.replace(/[?#][^]*$/, "")));
    downloaded.delete("");
  }
  return undefined;
}

/** Matches a function that pipes itself to itself in the background. */
const FORK_BOMB = /(?<!\w)(\w{1,32}|:)\s{0,8}\(\s{0,8}\)\s{0,8}\{[^}]{0,80}\1\s{0,8}\|\s{0,8}\1\s{0,8}&/;

export function findForkBomb(source: string): Denial | undefined {
  return source.includes("{") && FORK_BOMB.test(source.slice(0, LIMITS.syntaxChars))
    ? { rule: "fork-bomb", reason: "starts processes without end" }
    : undefined;
}

/** Finds the words of a catastrophic command in code of another language. */
export function findCatastrophicText(text: string): Denial | undefined {
  return DELETES_ALL.test(text) ? { rule: "delete-root", reason: "deletes everything" } : undefined;
}
