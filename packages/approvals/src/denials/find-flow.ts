import { baseName } from "../files/path.ts";
import { LIMITS } from "../limits.ts";
import type { Denial } from "../programs/catastrophic.ts";

/** Programs that fetch files. */
export const DOWNLOADERS = new Set(["aria2c", "curl", "fetch", "http", "https", "lynx", "wget", "xh"]);
/** Programs that run what they are given. */
export const INTERPRETERS =
  /^(?:ba|z|da|k|fi|c|tc|a)?sh$|^(?:python|node|perl|ruby|php|lua|deno|bun|tclsh|osascript|pwsh|powershell)[\d.]*$/;
/** Programs that send data somewhere. */
export const SENDERS = new Set(
  "aws curl ftp gh gsutil mail mutt nc ncat netcat rsync scp sendmail sftp socat ssh telnet tftp wget".split(
    " ",
  ),
);

const SECRET =
  /(?:^|[\s/@=~'"])\.(?:ssh|aws|gnupg|netrc|kube\/config|docker\/config\.json|npmrc|pypirc|git-credentials|codex\/auth\.json)\b|\/etc\/shadow|\bid_(?:rsa|dsa|ecdsa|ed25519)\b/;
const ENVIRONMENT = /(?:^|[\s;&|(])(?:env|printenv|export -p|declare -x)\s{0,8}(?:\||\))/;

/** Code that deletes everything, in the words of a shell inside another language. */
const DELETES_ALL =
  /\brm\s{1,8}(?:-[-\w]{1,20}\s{1,8}){0,6}-\w{0,8}[rR]\w{0,8}\s{1,8}(?:-[-\w]{1,20}\s{1,8}){0,6}(?:\/\*?|~\/?|\$HOME\/?)(?=['"`\s);]|$)|\b(?:rmtree|removeSync|rmSync)\(\s{0,8}['"](?:\/|~)['"]/;

/** What several commands of one script do together. */
export function findFlow(source: string, calls: readonly (readonly string[])[]): Denial | undefined {
  let hasSender = false;
  let hasDownloader = false;
  for (const [first = ""] of calls) {
    const name = baseName(first);
    if (SENDERS.has(name)) hasSender = true;
    if (DOWNLOADERS.has(name)) hasDownloader = true;
  }
  return (
    (hasSender ? findExfiltration(source.slice(0, LIMITS.syntaxChars)) : undefined) ??
    (hasDownloader ? findDownloadedCode(calls) : undefined)
  );
}

/** Secrets, or the whole environment, in one script with a program that sends: taken for one flow. */
function findExfiltration(source: string): Denial | undefined {
  // An identity file is used to log in, not sent.
  const text = source.replaceAll(/(?:^|\s)-i\s{1,8}\S+/g, " ");
  return SECRET.test(text) || ENVIRONMENT.test(text)
    ? { rule: "exfiltration", reason: "reads credentials and uses the network" }
    : undefined;
}

/** A file that is downloaded by one command and run by a later one. */
function findDownloadedCode(calls: readonly (readonly string[])[]): Denial | undefined {
  const downloaded = new Set<string>();
  for (const [first = "", ...args] of calls) {
    const name = baseName(first);
    if (downloaded.size > 0) {
      const runs = INTERPRETERS.test(name) || name === "source" || name === ".";
      const script = runs ? args.find((arg) => !arg.startsWith("-")) : undefined;
      const file = script ?? (first.includes("/") ? first : undefined);
      if (file !== undefined && downloaded.has(baseName(file)))
        return { rule: "download-to-shell", reason: "runs what it downloads" };
    }
    if (!DOWNLOADERS.has(name)) continue;
    for (const arg of args) downloaded.add(baseName(arg.replace(/[?#].*$/, "")));
    downloaded.delete("");
  }
  return undefined;
}

/** Code in another language with the words of a catastrophic command in it. */
export function findCatastrophicText(text: string): Denial | undefined {
  return DELETES_ALL.test(text) ? { rule: "delete-root", reason: "deletes everything" } : undefined;
}
