import { matchesPattern } from "./glob.ts";
import { foldName, hasWildcard } from "./path.ts";

/** Folders that belong to git and to Codex. Writes to them by anything else are refused. */
const OWNED_FOLDERS = [".agents", ".codex", ".git", "git~1"];

/** Names of files that other programs run or follow later: hooks, CI, editors, agents, shells, keys. */
const GUARDED_NAMES = [
  // Shells.
  ".bash_aliases .bash_login .bash_logout .bash_profile .bashrc .direnv .envrc .inputrc .profile",
  ".zlogin .zprofile .zshenv .zshrc",
  // Keys and registries.
  ".aws .docker .git-credentials .gnupg .kube .netrc .npmrc .pypirc .ssh .yarnrc .yarnrc.yml",
  "id_ecdsa id_ed25519 id_rsa",
  // Agents.
  ".aider.conf.yml .claude .clinerules .continue .cursor .cursorrules .gemini .junie .kiro",
  ".mcp.json .opencode .roo .windsurfrules agent.md agents.md agents.override.md claude.local.md",
  "claude.md copilot-instructions.md gemini.md opencode.json",
  // Continuous integration.
  ".buildkite .circleci .drone.yml .forgejo .gitea .github .gitlab-ci.yml .travis.yml .woodpecker",
  ".woodpecker.yml appveyor.yml azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile",
  // Editors and debuggers.
  ".devcontainer .devcontainer.json .dir-locals.el .exrc .fleet .gdbinit .idea .lldbinit .lvimrc",
  ".nvim.lua .nvimrc .vimrc .vs .vscode .zed",
  // Version control and its hooks.
  ".gitattributes .gitconfig .githooks .gitmodules .hg .husky .jj .lefthook",
  ".pre-commit-config.yaml .svn lefthook.yml",
  // Tool versions.
  ".mise.toml .tool-versions mise.toml",
].flatMap((names) => names.split(" "));

export type Protection = "owned" | "guarded";

const PROTECTED: ReadonlyMap<string, Protection> = new Map([
  ...GUARDED_NAMES.map((name) => [name, "guarded"] as const),
  ...OWNED_FOLDERS.map((name) => [name, "owned"] as const),
]);

/** How a path is protected by one of its segments. A segment with wildcards is protected if it could match a protected name. */
export function protectionOf(segments: readonly string[]): Protection | undefined {
  let found: Protection | undefined;
  for (const segment of segments) {
    const own = hasWildcard(segment) ? protectionOfPattern(segment) : PROTECTED.get(foldName(segment));
    if (own === "owned") return own;
    found ??= own;
  }
  return found;
}

/** A general pattern for hidden files (`.*`) is asked about. One with letters that matches an owned folder is refused. */
function protectionOfPattern(pattern: string): Protection | undefined {
  if (couldMatch(pattern, OWNED_FOLDERS)) return /^\.[a-z]/i.test(pattern) ? "owned" : "guarded";
  return couldMatch(pattern, GUARDED_NAMES) ? "guarded" : undefined;
}

/** Whether a pattern of more than wildcards could match one of the names. A bare `*` matches no hidden file. */
function couldMatch(pattern: string, names: readonly string[]): boolean {
  const folded = pattern.toLowerCase();
  return !/^[*?]+$/.test(pattern) && names.some((name) => matchesPattern(folded, name));
}
