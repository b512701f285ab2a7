const BOOLEAN = "(?:true|false|yes|no|on|off|0|1)";

/**
 * Settings of git that neither run a program nor name a file or an address, each with its values. All others are not
 * understood: many of them are commands (`core.sshCommand`, `alias.x`, `diff.external`, `filter.x.clean`).
 */
const SETTINGS: Readonly<Record<string, string>> = {
  "advice\\.\\w+": BOOLEAN,
  "branch\\.autosetuprebase": "\\w+",
  "branch\\.sort": "-?\\w+",
  "color\\.\\w+": "\\w+",
  "column\\.ui": "\\w+",
  "commit\\.gpgsign": "false",
  "commit\\.verbose": BOOLEAN,
  "core\\.abbrev": "\\w+",
  "core\\.autocrlf": `(?:${BOOLEAN}|input)`,
  "core\\.editor": "(?:true|:)",
  "core\\.eol": "(?:crlf|lf|native)",
  "core\\.filemode": BOOLEAN,
  "core\\.fsmonitor": "false",
  "core\\.hookspath": "/dev/null",
  "core\\.ignorecase": BOOLEAN,
  "core\\.longpaths": BOOLEAN,
  "core\\.pager": "(?:cat)?",
  "core\\.precomposeunicode": BOOLEAN,
  "core\\.quotepath": BOOLEAN,
  "core\\.safecrlf": `(?:${BOOLEAN}|warn)`,
  "core\\.whitespace": "[\\w,=-]*",
  "diff\\.algorithm": "\\w+",
  "diff\\.context": "\\d+",
  "diff\\.mnemonicprefix": BOOLEAN,
  "diff\\.noprefix": BOOLEAN,
  "diff\\.renamelimit": "\\d+",
  "diff\\.renames": "\\w+",
  "fetch\\.prune": BOOLEAN,
  "gc\\.auto": "\\d+",
  "init\\.defaultbranch": "[\\w./-]+",
  "log\\.date": "[\\w:-]+",
  "log\\.decorate": "\\w+",
  "log\\.showsignature": "false",
  "merge\\.conflictstyle": "\\w+",
  "merge\\.ff": `(?:${BOOLEAN}|only)`,
  "merge\\.renamelimit": "\\d+",
  "pull\\.ff": `(?:${BOOLEAN}|only)`,
  "pull\\.rebase": `(?:${BOOLEAN}|merges)`,
  "push\\.autosetupremote": BOOLEAN,
  "push\\.default": "\\w+",
  "push\\.followtags": BOOLEAN,
  "rebase\\.autosquash": BOOLEAN,
  "rebase\\.autostash": BOOLEAN,
  "rerere\\.enabled": BOOLEAN,
  "sequence\\.editor": "(?:true|:)",
  "status\\.\\w+": "\\w+",
  "tag\\.gpgsign": "false",
  "tag\\.sort": "-?[\\w:]+",
  "user\\.email": "[^\\n]*",
  "user\\.name": "[^\\n]*",
};

const PATTERN = Object.entries(SETTINGS)
  .map(([name, values]) => `${name}=${values}`)
  .join("|");

/** `name=value` of a harmless setting, as `git -c` takes it. */
export const HARMLESS_SETTING = new RegExp(`^(?:${PATTERN})$`, "i");
