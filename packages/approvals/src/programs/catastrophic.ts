import { baseName, resolvePath } from "../files/path.ts";
import { isCredential, isProfile, isSystemFolder, isSystemOwn } from "../files/sensitive-paths.ts";
import { rangeOf, readEndpoint } from "../network/endpoint.ts";

/** Why a command must never run, whatever a policy allows. */
export interface Denial {
  /** A stable name: `privilege`, `delete-root`. */
  readonly rule: string;
  readonly reason: string;
}

/** One command by its words. Words that are known only at run time are kept as written in the script. */
export interface DeniableCall {
  readonly name: string;
  readonly args: readonly string[];
  readonly home: string;
  /** The folder that relative paths start from. */
  readonly folder: string;
  /** The folder that the script starts in. */
  readonly start: string;
  /** Set for a command inside the text of another one. Its own text is not searched. */
  readonly isInner?: boolean | undefined;
}

type Check = (call: DeniableCall) => Denial | undefined;

const denial = (rule: string, reason: string): Denial => ({ rule, reason });
const always =
  (rule: string, reason: string): Check =>
  () =>
    denial(rule, reason);

const privilege: Check = ({ name }) => denial("privilege", `${name} asks for more rights`);
const machine: Check = ({ name }) => denial("machine", `${name} changes the machine itself`);
const power = always("shutdown", "stops the machine");
const disk: Check = ({ name }) => denial("disk-write", `${name} overwrites a disk`);
const account: Check = ({ name }) => denial("accounts", `${name} changes accounts`);

/** Checks by program name. Sorted. */
const CHECKS: ReadonlyMap<string, Check> = new Map(
  Object.entries<Check>({
    adduser: account,
    aria2c: metadataService,
    awk: runsStrings,
    blkdiscard: disk,
    chgrp: recursiveOwnership,
    chmod: recursiveOwnership,
    chown: recursiveOwnership,
    chpasswd: account,
    chroot: privilege,
    crontab: (call) => (isListing(call) ? undefined : denial("persistence", "changes scheduled commands")),
    dd: (call) =>
      call.args.some((arg) => /^of=\/dev\/(?!null$|stdout$|stderr$)/.test(arg)) ? disk(call) : undefined,
    curl: metadataService,
    deluser: account,
    doas: privilege,
    docker: container,
    fdisk: disk,
    find: findDeletion,
    firewall: machine,
    gawk: runsStrings,
    git,
    groupadd: account,
    halt: power,
    init: (call) => (/^[0-6]$/.test(call.args[0] ?? "") ? power(call) : undefined),
    insmod: machine,
    iptables: machine,
    kexec: machine,
    kill: killsAll,
    killall: killsAll,
    killall5: always("kill-all", "ends every process"),
    launchctl: always("persistence", "changes services"),
    mawk: runsStrings,
    mkfs: disk,
    modprobe: machine,
    mount: machine,
    nawk: runsStrings,
    nc: reverseShell,
    ncat: reverseShell,
    netcat: reverseShell,
    nft: machine,
    nsenter: privilege,
    parted: disk,
    passwd: account,
    pkexec: privilege,
    pkill: killsAll,
    podman: container,
    poweroff: power,
    reboot: power,
    rm: deletion,
    rmmod: machine,
    run0: privilege,
    sed: runsLines,
    sgdisk: disk,
    shred: (call) => (call.args.some((arg) => /^\/dev\/./.test(arg)) ? disk(call) : undefined),
    shutdown: power,
    socat: reverseShell,
    srm: deletion,
    ssh: (call) => findInText(call.args.slice(1).join(" "), call),
    su: privilege,
    sudo: privilege,
    sudoedit: privilege,
    swapoff: machine,
    sysctl: (call) => (call.args.includes("-w") ? machine(call) : undefined),
    systemctl,
    telinit: power,
    ufw: machine,
    umount: machine,
    useradd: account,
    userdel: account,
    usermod: account,
    visudo: account,
    wget: metadataService,
    wipefs: disk,
  }),
);

export type DenialContext = Pick<DeniableCall, "home" | "folder" | "isInner">;

/** The denial of the first command that must never run, judged by its words alone. */
export function findCatastrophe(
  calls: readonly (readonly string[])[],
  context: DenialContext,
): Denial | undefined {
  const start = context.folder;
  let { folder } = context;
  return findFirst(calls, ([first = "", ...args]) => {
    const name = baseName(first);
    if (name === "cd" && args.length === 1) folder = absoluteOf(args[0] ?? "", { ...context, folder });
    return CHECKS.get(name.startsWith("mkfs.") ? "mkfs" : name)?.({ name, args, ...context, folder, start });
  });
}

/** Finds a catastrophic command in text that a program passes to a shell, judged by its blank-separated words. */
function findInText(text: string, context: DenialContext): Denial | undefined {
  if (text === "" || context.isInner === true) return undefined;
  const lines = text.slice(0, LONGEST_TEXT).split(/[\n;&|(){}]+/);
  return findCatastrophe(
    lines.map((line) => line.split(/[\s'"`\\]+/).filter((word) => word !== "")),
    { home: context.home, folder: context.folder, isInner: true },
  );
}

const LONGEST_TEXT = 8 * 1024;
const LONGEST_BRACES = 200;
const LONGEST_HOST = 300;

/** Finds it in the strings of an awk program, which `system` and pipes run. */
function runsStrings(call: DeniableCall): Denial | undefined {
  const { args } = call;
  const strings = args.flatMap((arg) =>
    Array.from(arg.slice(0, LONGEST_TEXT).matchAll(/"([^"]*)"/g), ([, text]) => text ?? ""),
  );
  return findInText(strings.join("\n"), call);
}

/** Finds it in sed's `e` command. */
function runsLines(call: DeniableCall): Denial | undefined {
  const { args } = call;
  const lines = args.flatMap((arg) =>
    Array.from(
      arg.slice(0, LONGEST_TEXT).matchAll(/(?:^|[\d$/;{\n])\s{0,8}e\s([^\n]*)/g),
      ([, text]) => text ?? "",
    ),
  );
  return findInText(lines.join("\n"), call);
}

/** An address, in any notation, of the service that provides a cloud machine's credentials. */
function metadataService({ args }: DeniableCall): Denial | undefined {
  const isMetadata = args
    .map((arg) => arg.slice(0, LONGEST_HOST).replace(/^-[-\w]*=/, ""))
    .filter((arg) =>
      /^(?:https?:\/\/(?:[^/?#@]*@)?)?(?:[\d[]|metadata\.goog)|^https?:\/\/(?:metadata|instance-data)/i.test(
        arg,
      ),
    )
    .some((arg) => rangeOf(readEndpoint(arg)?.host ?? "") === "metadata");
  return isMetadata ? denial("metadata-service", "asks for the machine's credentials") : undefined;
}

function findFirst<T>(items: readonly T[], find: (item: T) => Denial | undefined): Denial | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether there is anything to check about a program of this name. */
export function isCheckedProgram(name: string): boolean {
  return CHECKS.has(name) || name.startsWith("mkfs.");
}

function hasLetter(args: readonly string[], letters: RegExp): boolean {
  return args.some((arg) => /^-[A-Za-z]+$/.test(arg) && letters.test(arg));
}

function hasLong(args: readonly string[], name: string, least: number): boolean {
  return args.some(
    (arg) => arg.length >= least && arg.startsWith("--") && name.startsWith(arg.replace(/=[^]*$/, "")),
  );
}

function operandsOf(args: readonly string[]): string[] {
  return args.filter((arg) => !arg.startsWith("-"));
}

/** An absolute path, judged by its text. */
export function absoluteOf(text: string, { home, folder }: Pick<DeniableCall, "home" | "folder">): string {
  const expanded = text
    .replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, home)
    .replace(/^(?:\$PWD|\$\{PWD\})(?=\/|$)/, folder);
  return resolvePath(folder, expanded);
}

function deletion(call: DeniableCall): Denial | undefined {
  const { args } = call;
  if (!hasLetter(args, /[rR]/) && !hasLong(args, "--recursive", 3)) return undefined;
  for (const target of operandsOf(args).flatMap(expandBraces)) {
    const path = absoluteOf(target.replace(/(^|\/)(?:\*+|\.\*)$/, "$1."), call);
    if (isPrecious(path, call) && !isTempContent(target)) return denial("delete-root", `deletes ${path}`);
  }
  return undefined;
}

/** `{/,/usr}`, in scripts that are not understood. */
function expandBraces(text: string): readonly string[] {
  const [from, to] = [text.indexOf("{"), text.lastIndexOf("}")];
  if (from === -1 || to < from || text.length > LONGEST_BRACES) return [text];
  const parts = text.slice(from + 1, to).split(",");
  return parts.map((part) => `${text.slice(0, from)}${part}${text.slice(to + 1)}`);
}

function isTempContent(target: string): boolean {
  return /^\/(?:tmp|var\/tmp)\/./.test(target);
}

function isPrecious(path: string, { home, start }: DeniableCall): boolean {
  if (path === "/" || path === home) return true;
  if (start === path || start.startsWith(`${path}/`)) return start !== path;
  if (isSystemFolder(path) && path.split("/").length <= 3) return true;
  return (
    path.split("/").length <= 2 ||
    /^\/(?:home|Users)\/[^/]+$/.test(path) ||
    (path.startsWith(`${home}/`) && (isCredential(path, home) || isProfile(path, home)))
  );
}

function findDeletion(call: DeniableCall): Denial | undefined {
  if (!call.args.includes("-delete") && !call.args.some((arg) => /^(?:\/usr)?(?:\/bin\/)?rm$/.test(arg)))
    return undefined;
  const start = call.args.find((arg) => !arg.startsWith("-"));
  const path = absoluteOf(start ?? ".", call);
  const isNarrowed = call.args.some((arg) => /^-(?:name|path|regex|iname|mtime|size|empty)$/.test(arg));
  return isPrecious(path, call) && (!isNarrowed || path === "/")
    ? denial("delete-root", `deletes what is below ${path}`)
    : undefined;
}

function recursiveOwnership(call: DeniableCall): Denial | undefined {
  const { name, args } = call;
  if (!hasLetter(args, /R/) && !hasLong(args, "--recursive", 5)) return undefined;
  const isAbsolute = operandsOf(args)
    .slice(1)
    .some((arg) => /^(?:\/|~|\$HOME|\$\{HOME\})/.test(arg));
  return isAbsolute
    ? denial("recursive-ownership", `${name} changes a whole tree by an absolute path`)
    : undefined;
}

/** Options of git that come before its subcommand and take an argument. */
const GIT_VALUES = new Set([
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--exec-path",
  "--config-env",
]);

function git(call: DeniableCall): Denial | undefined {
  const { args } = call;
  let at = 0;
  // `-c alias.x=!command`, and other settings that are commands.
  const settings = args.includes("-c") ? args.filter((arg) => /^[\w.-]+=!?\S+\s/.test(arg)) : [];
  const hidden = findInText(settings.map((arg) => arg.replace(/^[\w.-]+=!?/, "")).join("\n"), call);
  if (hidden !== undefined) return hidden;
  while (at < args.length && (args[at] ?? "").startsWith("-")) at += GIT_VALUES.has(args[at] ?? "") ? 2 : 1;
  const verb = args[at];
  const rest = args.slice(at + 1);
  const [first] = operandsOf(rest);
  switch (verb) {
    case "worktree":
      return first === "remove" || first === "prune"
        ? denial("git-worktree", `git worktree ${first} can drop work that is not committed`)
        : undefined;
    case "reset":
      return hasLong(rest, "--hard", 4) ? denial("git-reset", "git reset --hard drops changes") : undefined;
    case "push": {
      const isForced =
        rest.some((arg) => /^--force$|^--forc?$|^--fo?$|^\+./.test(arg)) || hasLetter(rest, /f/);
      if (isForced || hasLong(rest, "--mirror", 4))
        return denial("git-force-push", "overwrites history on a remote");
      return undefined;
    }
    case "filter-branch":
    case "filter-repo":
      return denial("git-rewrite", `git ${verb} rewrites history`);
    case "reflog":
      return first === "expire" || first === "delete"
        ? denial("git-rewrite", "drops history that could undo a mistake")
        : undefined;
    case "gc":
      return hasLong(rest, "--prune", 4)
        ? denial("git-rewrite", "drops history that could undo a mistake")
        : undefined;
    case "update-ref":
      return hasLetter(rest, /d/) ? denial("git-rewrite", "deletes a reference") : undefined;
    default:
      return undefined;
  }
}

function container({ name, args }: DeniableCall): Denial | undefined {
  const text = args.join(" ");
  const hasHostRights =
    /(?:^| )--privileged(?:=true)?(?: |$)|--(?:pid|ipc|userns|uts|cgroupns)[= ]host|--cap-add[= ](?:ALL|SYS_)|--device[= ]|docker\.sock|--security-opt[= ]\S{0,100}unconfined/i.test(
      text,
    ) ||
    /(?:^| )(?:-v|--volume)[= ]?\/(?::|etc\/?:|etc\/(?:shadow|passwd|sudoers|cron)|root|home|usr\/?:|var(?:\/run)?\/?:|proc|sys|boot|dev\/?:)|(?:src|source)=\/(?:,|etc|root|home|usr|proc|sys)/.test(
      text,
    );
  return hasHostRights ? denial("host-rights", `${name} gives a container rights over the host`) : undefined;
}

function reverseShell({ name, args }: DeniableCall): Denial | undefined {
  return hasLetter(args, /[ec]/) || args.some((arg) => /^--(?:exec|sh-exec)|exec:|system:/i.test(arg))
    ? denial("reverse-shell", `${name} connects a shell to the network`)
    : undefined;
}

/** Denies killing process 1, every process of the user, or a pattern that matches any name. */
function killsAll({ name, args }: DeniableCall): Denial | undefined {
  const targets =
    name === "kill" ? args.slice(args.length > 1 && args[0] !== "--" ? 1 : 0) : operandsOf(args);
  const isAll =
    name === "kill"
      ? targets.some((target) => /^-?[01]$/.test(target))
      : targets.some((target) => /^[.^$*/\\?+\s]*$|^[/.a-z]$/.test(target));
  return isAll && targets.length > 0 ? denial("kill-all", "ends every process") : undefined;
}

function systemctl({ args }: DeniableCall): Denial | undefined {
  const [verb = ""] = operandsOf(args);
  if (/^(?:poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue|default|isolate)$/.test(verb))
    return power({ name: "systemctl", args, home: "", folder: "", start: "" });
  return /^(?:enable|disable|mask|link|edit|set-property|start|stop|restart|daemon-reload)$/.test(verb)
    ? denial("machine", "changes services of the machine")
    : undefined;
}

function isListing({ args }: DeniableCall): boolean {
  return args.length > 0 && args.every((arg) => arg === "-l");
}

/** Finds a path that must never be written to, by its text, which also covers scripts that are not understood. */
export function findProtectedWrite(texts: readonly string[], context: DenialContext): Denial | undefined {
  return findFirst(texts, (text) => judgeWrite(text, context));
}

function judgeWrite(text: string, context: DenialContext): Denial | undefined {
  if (
    text === "" ||
    /^\/dev\/(?:null|stdout|stderr|tty|stdin|zero|full|random|urandom|shm(?:\/|$))/.test(text)
  )
    return undefined;
  const path = absoluteOf(text, context);
  if (path === context.folder || path.startsWith(`${context.folder}/`)) {
    return /\/\.(?:git|codex|agents)(?:\/|$)/.test(path.slice(context.folder.length))
      ? denial("protected-path", `${path} belongs to git or to Codex`)
      : undefined;
  }
  if (path.startsWith("/dev/tcp/") || path.startsWith("/dev/udp/"))
    return denial("reverse-shell", "opens a raw connection");
  if (path.startsWith("/dev/")) return denial("disk-write", `${path} is a device`);
  if (isProfile(path, context.home)) return denial("persistence", `${path} is run automatically later`);
  if (isCredential(path, context.home)) return denial("protected-path", `${path} holds credentials`);
  return isSystemOwn(path) ? denial("system-write", `${path} belongs to the system`) : undefined;
}
