import { plainValue, UNKNOWN } from "./value.ts";
import type { Places } from "../files/places.ts";
import { belowHome, isProjectSecret } from "../files/sensitive-paths.ts";
import { TAINT, type Invocation } from "./invocation.ts";

const DOWNLOADERS = new Set(
  "curl wget wget2 fetch aria2c axel http https httpie xh lynx links w3m elinks nc ncat netcat socat telnet ftp sftp scp ssh tftp gsutil s3cmd rclone gh glab dig nslookup host drill ipfs irm iwr invoke-webrequest invoke-restmethod".split(
    " ",
  ),
);

/** Programs that can carry bytes out of the machine. */
const SENDERS = new Set(
  "curl wget wget2 http https httpie xh nc ncat netcat socat telnet ftp sftp scp ssh tftp rsync gsutil s3cmd rclone aws gcloud az dig nslookup host mail mailx sendmail mutt openssl gh glab curlie ping getent lftp invoke-webrequest invoke-restmethod iwr irm".split(
    " ",
  ),
);

const PRINTERS = new Set(
  "cat head tail tac less more bat grep egrep fgrep rg ag awk gawk sed cut sort uniq strings xxd od hexdump base64 base32 openssl gzip tar zip gpg dd cp tee jq yq nl rev paste split find echo printf".split(
    " ",
  ),
);

export function isDownloader(name: string): boolean {
  return DOWNLOADERS.has(name);
}

export function isSender(name: string): boolean {
  return SENDERS.has(name);
}

/** What a command adds to the bytes that pass through it. */
export function ownTaint(invocation: Invocation, places: Places): number {
  const { name, argv } = invocation;
  let taint: number = TAINT.other;
  if (DOWNLOADERS.has(name)) taint |= TAINT.download;
  // Most programs are none of these; only for those that are does it pay to look at the words.
  if (LOOKED_AT.has(name)) {
    const words = argv.map(({ text }) => text);
    if (isDecoder(name, words)) taint |= TAINT.decoded;
    if (printsEnvironment(name, words)) taint |= TAINT.environment;
    if (listsProcesses(name, words)) taint |= TAINT.processes;
    if (CREDENTIAL_COMMANDS.test(words.join(" "))) taint |= TAINT.credentials;
  }
  if (readsCredentials(invocation, places)) taint |= TAINT.credentials;
  return taint;
}

/** Programs that take a folder with everything in it. */
const TAKES_FOLDERS = new Set("tar gtar bsdtar zip 7z cp rsync scp rclone gsutil aws sftp".split(" "));

const LOOKED_AT = new Set(
  "jq ps pgrep base64 base32 basenc gbase64 xxd openssl gzip gpg xz bzip2 zstd gunzip zcat gzcat xzcat bzcat uudecode rev tr rot13 printenv env set export declare typeset security gh glab aws gcloud az op pass vault kubectl git npm heroku doppler secret-tool lpass bw".split(
    " ",
  ),
);

/** Every process there is, as a list of numbers that nobody has narrowed down yet. */
function listsProcesses(name: string, words: readonly string[]): boolean {
  if (name === "pgrep") return words.slice(1).some((word) => /^(?:\.[*+]?|\^|\$|)$/.test(word));
  return (
    name === "ps" && words.slice(1).some((word) => /^-?[a-zA-Z]*[aeAx]/.test(word) && !/^-[pCug]/.test(word))
  );
}

/** Programs that pick lines out of a list. */
export function narrows({ name, argv }: Invocation): boolean {
  return (
    /^(?:e|f|z)?grep$|^(?:rg|ag|head|tail|fzf)$/.test(name) ||
    (/awk$|^sed$/.test(name) && argv.some(({ text }) => /\/[^/]+\/|[=!]=|~/.test(text)))
  );
}

function isDecoder(name: string, words: readonly string[]): boolean {
  const has = (pattern: RegExp): boolean => words.some((word, index) => index > 0 && pattern.test(word));
  switch (name) {
    case "base64":
    case "base32":
    case "basenc":
    case "gbase64":
      return has(/^-[a-zA-Z]*[dD]|^--d/);
    case "xxd":
      return has(/^-[a-z]*r/);
    case "openssl":
      return has(/^-d$|^-a$|^base64$/) || words[1] === "enc";
    case "gzip":
    case "gpg":
    case "xz":
    case "bzip2":
    case "zstd":
      return has(/^-[a-zA-Z]*d|^--decrypt|^--decompress/);
    case "gunzip":
    case "zcat":
    case "gzcat":
    case "xzcat":
    case "bzcat":
    case "uudecode":
    case "rev":
    case "tr":
    case "rot13":
      return true;
    default:
      return false;
  }
}

function printsEnvironment(name: string, words: readonly string[]): boolean {
  if (name === "printenv") return true;
  if (name === "env" || name === "set" || name === "export")
    return words.slice(1).every((word) => word.startsWith("-"));
  if (name === "jq") return words.some((word) => /\benv\b|\$ENV\b/.test(word));
  // Without a dash `e` shows the environment of each process, with one it means all of them.
  if (name === "ps") return /^[a-zA-Z]*e[a-zA-Z]*$/.test(words[1] ?? "");
  return (
    (name === "declare" || name === "typeset") && words.length === 2 && /^-[a-zA-Z]*[px]/.test(words[1] ?? "")
  );
}

const CREDENTIAL_COMMANDS =
  /^(?:security find-(?:generic|internet)-password|gh auth token|glab auth token|aws (?:configure get|sts get-session-token|secretsmanager get-secret-value|ssm get-parameter)|gcloud auth (?:application-default )?print-(?:access|identity)-token|gcloud secrets versions access|az account get-access-token|op (?:read|item get)|pass (?:show )?\S|vault (?:kv get|read|token)|kubectl get secrets?|git credential (?:fill|get)|npm token|heroku auth:token|doppler secrets|secret-tool lookup|lpass show|bw get)\b/;

function readsCredentials({ name, argv, redirects, cwds }: Invocation, places: Places): boolean {
  const base = cwds[0] === undefined || cwds[0] === UNKNOWN ? places.cwd : cwds[0];
  const whole = TAKES_FOLDERS.has(name);
  // What is copied to a home folder comes from elsewhere.
  const into = /^(?:cp|scp|rsync)$/.test(name) ? argv.at(-1)?.text : undefined;
  const named = (text: string): boolean => {
    const path = places.absolute(text, base);
    if (places.isCredential(path) || isProjectSecret(path)) return true;
    // `tar -C ~ .ssh`: seen from a folder that another option names.
    if (whole && text.startsWith(".") && places.isCredential(places.absolute(text, places.home))) return true;
    // A home folder as a whole has its keys in it.
    return whole && text !== into && belowHome(path, places.home) === "";
  };
  if (redirects.some(({ mode, target }) => mode === "read" && named(target.text))) return true;
  if (!PRINTERS.has(name) && !SENDERS.has(name)) return false;
  return argv.some(({ text }, index) => index > 0 && text.length < 1024 && fileNames(text).some(named));
}

/** Whether a sender is told to read a secret file. Keys that are only used to log in stay at home. */
export function sendsSecret(invocation: Invocation, places: Places): boolean {
  const { argv, name } = invocation;
  const logsIn = /^(?:ssh|scp|sftp|rsync|autossh)$/.test(name) ? SSH_LOGS_IN : CURL_LOGS_IN;
  const others = argv.filter(
    ({ text }, index) => !logsIn.test(argv[index - 1]?.text ?? "") && !logsIn.test(text),
  );
  // The lines that these are fed are commands: `put ~/.ssh/id_rsa`.
  const fed = /^(?:sftp|ftp|lftp)$/.test(name) ? (invocation.input ?? "").split(/\s+/).map(plainValue) : [];
  return readsCredentials({ ...invocation, argv: [...others, ...fed] }, places);
}

const SSH_LOGS_IN = /^-[1246ACNTfnqtvx]*[iFE]$|IdentityFile/;
const CURL_LOGS_IN = /^(?:-E|--key|--cert|--cacert|--netrc-file)(?:=|$)/;

/** The file names that an argument may hold: itself, after `=`, `@` or `<`, as `file://`, behind the letter of an option. */
export function fileNames(text: string): string[] {
  const option = text.startsWith("-");
  const names = option && !text.includes("=") && !text.includes("@") ? [] : [text];
  const equals = text.indexOf("=");
  if (equals !== -1) names.push(text.slice(equals + 1).replace(/^<|;.*$/gs, ""));
  const at = text.lastIndexOf("@");
  if (at !== -1) names.push(text.slice(at + 1).replace(/;.*$/s, ""));
  if (text.startsWith("file://")) names.push(text.slice(7));
  // `curl -T.env`, `curl -sT/path`: the value follows the letter.
  const attached = /^-[a-zA-Z]{1,3}?(?=[./~])(.*)$/s.exec(text)?.[1];
  if (attached !== undefined) names.push(attached);
  return names;
}
