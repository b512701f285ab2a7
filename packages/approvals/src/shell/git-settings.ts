/** Settings whose value is a command line that git runs. */
const RUNS =
  /^(?:core\.(?:sshcommand|pager|editor|fsmonitor|askpass|gitproxy|alternaterefscommand)|diff\.external|interactive\.difffilter|sequence\.editor|gpg\.(?:.*\.)?program|.*\.(?:cmd|command|textconv|clean|smudge|process|driver|helper|uploadpack|receivepack|vcs)|uploadpack\..*|pager\..*|web\.browser|browser\..*|man\..*)$/i;

/** Settings that make git look for code or for more settings elsewhere. */
const LEADS =
  /^(?:core\.(?:hookspath|worktree|attributesfile)|init\.templatedir|include\.path|includeif\..*)$/i;

/** Which other address stands for one: harmless where both are plain addresses of servers. */
const REDIRECTS = /^url\.(?!https:\/\/|ssh:\/\/|git@).*$/i;

const HARMLESS = /^(?:|cat|less|true|false|:|vim?|nano|\/dev\/null|ssh|store|cache.*|osxkeychain|manager.*)$/;

/** What a git setting does: holds a command, leads to code elsewhere, is an alias, or nothing of note. */
export function gitSetting(key: string, value: string): "alias" | "command" | "leads" | undefined {
  if (/^alias\./i.test(key)) return "alias";
  if (HARMLESS.test(value.trim())) return undefined;
  if (RUNS.test(key)) return "command";
  return LEADS.test(key) || REDIRECTS.test(key) ? "leads" : undefined;
}
