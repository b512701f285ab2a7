import { cautioned, denied, type Finding } from "../finding.ts";
import { plainValue, type Value } from "./value.ts";

export interface WindowsScript {
  readonly commands: readonly (readonly Value[])[];
  readonly findings: readonly Finding[];
}

/** Names that PowerShell gives to its own commands: the table of programs knows the longer one. */
const ALIASES: Readonly<Record<string, string>> = {
  gci: "get-childitem",
  gc: "get-content",
  sls: "select-string",
  iex: "invoke-expression",
  iwr: "invoke-webrequest",
  irm: "invoke-restmethod",
  ri: "remove-item",
  rd: "remove-item",
  del: "remove-item",
  erase: "remove-item",
  saps: "start-process",
  spps: "stop-process",
};

/** Each line: patterns that must all occur, the rule, the reason. One pattern never spans the text, so time stays linear. */
const DANGEROUS: readonly [readonly RegExp[], string, string][] = [
  [
    [
      /\b(?:iex|invoke-expression)\b/i,
      /\b(?:iwr|irm|curl|wget|invoke-webrequest|invoke-restmethod|downloadstring|downloadfile|webclient)\b/i,
    ],
    "download-to-shell",
    "runs what it downloads",
  ],
  [
    [
      /\b(?:remove-item|ri|rm|rd|rmdir|del|erase)\b/i,
      /-r(?:ec|ecurse)?\b|\/s\b|-recurse:/i,
      /\b[a-z]:[\\/]?(?:\*|\s|$)|[a-z]:[\\/](?:windows|users|program)|\$home|\$env:(?:userprofile|systemroot|windir|systemdrive)|%(?:userprofile|systemroot|systemdrive|windir)%|\s~|\s[/\\](?:\s|\*|$)/i,
    ],
    "delete-root",
    "deletes a drive, a home or a system folder",
  ],
  [
    [
      /\bformat(?:\.com)? [a-z]:|\b(?:format-volume|clear-disk|initialize-disk|remove-partition|diskpart)\b|\bcipher \/w/i,
    ],
    "disk-write",
    "wipes a disk",
  ],
  [
    [/\b(?:vssadmin|wmic|wbadmin)\b/i, /\b(?:shadow|shadows|shadowcopy|delete)\b/i],
    "system-damage",
    "removes backups",
  ],
  [
    [
      /\b(?:bcdedit|manage-bde|set-mppreference|add-mppreference|new-localuser)\b|\bnetsh advfirewall|\bset-executionpolicy (?:unrestricted|bypass)/i,
    ],
    "system-damage",
    "switches protection off",
  ],
  [[/\bnet (?:user|localgroup)\b/i, /\/add\b/i], "system-damage", "makes accounts"],
  [[/\b(?:runas|gsudo|sudo|psexec)\b/i], "privilege", "asks for more rights"],
  [[/\b(?:schtasks)\b/i, /\/create\b/i], "persistence", "makes something run later"],
  [
    [
      /\b(?:register-scheduledtask|new-service)\b|\bsc(?:\.exe)? create|currentversion\\run|\$profile\b|startup\\/i,
    ],
    "persistence",
    "makes something run later",
  ],
  [
    [/\b(?:stop-computer|restart-computer)\b|\bshutdown(?:\.exe)? [/-]/i],
    "kill-everything",
    "stops the machine",
  ],
  [[/\b(?:stop-process|spps)\b/i, /\*|\bget-process\b/i], "kill-everything", "ends every process"],
  [[/\bgit reset\b/i, /--hard\b/i], "git-reset-hard", "throws uncommitted work away"],
  [[/\bgit worktree (?:remove|prune)\b/i], "git-worktree", "removes a working tree"],
  [
    [/\bgit push\b/i, /\s-f\b|--force(?!-with-lease|-if)|--mirror\b|\s\+\w/i],
    "git-force-push",
    "overwrites what others have pushed",
  ],
];

/**
 * PowerShell and cmd, read cautiously: what is known to be dangerous is refused by its words alone, plain words are
 * taken as commands, and anything with variables, blocks or escapes is code that is not read.
 */
export function readWindowsScript(source: string, shell: "powershell" | "cmd"): WindowsScript {
  const findings: Finding[] = [];
  // cmd drops carets and PowerShell drops backticks: with them gone, the words are what will run.
  const bare = source
    .replaceAll(shell === "cmd" ? /\^/g : /`/g, "")
    .replaceAll(/["']/g, "")
    .replaceAll(/\s+/g, " ");
  for (const [patterns, rule, reason] of DANGEROUS) {
    if (patterns.every((pattern) => pattern.test(bare))) findings.push(denied(rule, reason));
  }
  const opaque = shell === "cmd" ? /[\^%!()<>@`\n]/ : /[$(){}[\]@`<>\n&%]/;
  if (opaque.test(source.replaceAll("&&", ""))) {
    findings.push(cautioned("opaque-code", `${shell} code with variables, blocks or redirections`));
    return { commands: [], findings };
  }
  const commands: Value[][] = [];
  for (const line of source.split(shell === "cmd" ? /&&|\|\||[&|]/ : /&&|\|\||[;|]/)) {
    const words = line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
    // Both shells leave `~` to the command, and PowerShell's commands take it for home.
    const argv = words.map((word) =>
      plainValue(word.replace(/^(["'])(.*)\1$/s, "$2").replace(/^~(?=[\\/]|$)/, "/~")),
    );
    const [first, ...rest] = argv;
    if (first === undefined) continue;
    if (/["']/.test(words.slice(0, 1).join(""))) findings.push(cautioned("opaque-code", "a quoted name"));
    const name = shell === "powershell" ? ALIASES[first.text.toLowerCase()] : undefined;
    commands.push([name === undefined ? first : plainValue(name), ...rest]);
  }
  return { commands, findings };
}
