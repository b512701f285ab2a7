import { foldName } from "./path.ts";

/** Folders that belong to git and to Codex: writes into them by anything else are refused. */
const OWNED_FOLDERS = new Set([".agents", ".codex", ".git", "git~1"]);

/** Names whose files are run or obeyed by something else later: hooks, CI, editors, agents, shells, keys. */
const GUARDED_NAMES = new Set([
  ".aider.conf.yml",
  ".aws",
  ".bash_aliases",
  ".bash_login",
  ".bash_logout",
  ".bash_profile",
  ".bashrc",
  ".buildkite",
  ".circleci",
  ".claude",
  ".clinerules",
  ".continue",
  ".cursor",
  ".cursorrules",
  ".devcontainer",
  ".devcontainer.json",
  ".dir-locals.el",
  ".direnv",
  ".docker",
  ".drone.yml",
  ".envrc",
  ".exrc",
  ".fleet",
  ".forgejo",
  ".gdbinit",
  ".gemini",
  ".git-credentials",
  ".gitattributes",
  ".gitconfig",
  ".gitea",
  ".githooks",
  ".gitlab-ci.yml",
  ".gitmodules",
  ".gnupg",
  ".hg",
  ".husky",
  ".idea",
  ".inputrc",
  ".jj",
  ".junie",
  ".kiro",
  ".kube",
  ".lefthook",
  ".lldbinit",
  ".lvimrc",
  ".mcp.json",
  ".mise.toml",
  ".netrc",
  ".npmrc",
  ".nvim.lua",
  ".nvimrc",
  ".opencode",
  ".pre-commit-config.yaml",
  ".profile",
  ".pypirc",
  ".roo",
  ".ssh",
  ".svn",
  ".tool-versions",
  ".travis.yml",
  ".vimrc",
  ".vs",
  ".vscode",
  ".windsurfrules",
  ".woodpecker",
  ".woodpecker.yml",
  ".yarnrc",
  ".yarnrc.yml",
  ".zed",
  ".zlogin",
  ".zprofile",
  ".zshenv",
  ".zshrc",
  "agent.md",
  "agents.md",
  "agents.override.md",
  "appveyor.yml",
  "azure-pipelines.yml",
  "bitbucket-pipelines.yml",
  "claude.local.md",
  "claude.md",
  "copilot-instructions.md",
  "gemini.md",
  "id_ecdsa",
  "id_ed25519",
  "id_rsa",
  "jenkinsfile",
  "lefthook.yml",
  "mise.toml",
  "opencode.json",
]);

/** Folders of which only a part is guarded. */
const GUARDED_PAIRS: Readonly<Record<string, readonly string[]>> = {
  ".github": ["actions", "agents", "copilot-instructions.md", "instructions", "prompts", "workflows"],
};

export type Protection = "owned" | "guarded";

/** How a path is protected by one of its names. Segments with wildcards are protected if they could match a name. */
export function protectionOf(segments: readonly string[]): Protection | undefined {
  let found: Protection | undefined;
  for (const [index, segment] of segments.entries()) {
    const isPattern = /[*?[]/.test(segment);
    if (!isPattern && OWNED_FOLDERS.has(foldName(segment))) return "owned";
    // A pattern for hidden files in general (`.*`) is asked about; one that spells such a name is refused.
    if (isPattern && couldMatch(segment, OWNED_FOLDERS)) {
      if (/^\.[a-z]/i.test(segment)) return "owned";
      found = "guarded";
    }
    if (isPattern ? couldMatch(segment, GUARDED_NAMES) : GUARDED_NAMES.has(foldName(segment)))
      found = "guarded";
    const parts = GUARDED_PAIRS[foldName(segment)];
    const next = segments[index + 1];
    if (parts !== undefined && (next === undefined || next === "" || isOneOf(next, parts))) found = "guarded";
  }
  return found;
}

function isOneOf(segment: string, names: readonly string[]): boolean {
  return /[*?[]/.test(segment) ? couldMatch(segment, names) : names.includes(foldName(segment));
}

/** Whether a pattern with at least one letter of its own could match a name. A bare `*` matches no hidden file. */
function couldMatch(pattern: string, names: Iterable<string>): boolean {
  if (/^[*?]+$/.test(pattern)) return false;
  const folded = pattern.toLowerCase();
  for (const name of names) if (matchesPattern(folded, name)) return true;
  return false;
}

/** Shell patterns within one name. A bracket counts as any one character. Hidden names need their dot written. */
export function matchesPattern(pattern: string, name: string): boolean {
  if (name.startsWith(".") && !/^[.[]/.test(pattern)) return false;
  const source = pattern.replaceAll(/\[[^\]]*\]/g, "?");
  let p = 0;
  let n = 0;
  let starP = -1;
  let starN = 0;
  while (n < name.length) {
    const want = source[p];
    if (want === "*") {
      starP = p;
      starN = n;
      p += 1;
    } else if (want !== undefined && (want === "?" || want === name[n])) {
      p += 1;
      n += 1;
    } else if (starP !== -1) {
      p = starP + 1;
      starN += 1;
      n = starN;
    } else return false;
  }
  while (source[p] === "*") p += 1;
  return p === source.length;
}
