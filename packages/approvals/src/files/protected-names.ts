import { matchesPattern } from "./glob.ts";
import { foldName, hasWildcard } from "./path.ts";

/** Folders that belong to git and to Codex: writes into them by anything else are refused. */
const OWNED_FOLDERS = [".agents", ".codex", ".git", "git~1"];

/** Names whose files are run or obeyed by something else later: hooks, CI, editors, agents, shells, keys. */
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
  // Versions of tools.
  ".mise.toml .tool-versions mise.toml",
].flatMap((names) => names.split(" "));

export type Protection = "owned" | "guarded";

const PROTECTED: ReadonlyMap<string, Protection> = new Map([
  ...GUARDED_NAMES.map((name) => [name, "guarded"] as const),
  ...OWNED_FOLDERS.map((name) => [name, "owned"] as const),
]);

/** How a path is protected by one of its names. Segments with wildcards are protected if they could match a name. */
export function protectionOf(segments: readonly string[]): Protection | undefined {
  let found: Protection | undefined;
  for (const segment of segments) {
    const own = hasWildcard(segment) ? protectionOfPattern(segment) : PROTECTED.get(foldName(segment));
    if (own === "owned") return own;
    found ??= own;
  }
  return found;
}

/** A pattern for hidden files in general (`.*`) is asked about; one that spells the name of an owned folder is refused. */
function protectionOfPattern(pattern: string): Protection | undefined {
  if (couldMatch(pattern, OWNED_FOLDERS)) return /^\.[a-z]/i.test(pattern) ? "owned" : "guarded";
  return couldMatch(pattern, GUARDED_NAMES) ? "guarded" : undefined;
}

/** Whether a pattern with at least one letter of its own could match a name. A bare `*` matches no hidden file. */
function couldMatch(pattern: string, names: readonly string[]): boolean {
  const folded = pattern.toLowerCase();
  return !/^[*?]+$/.test(pattern) && names.some((name) => matchesPattern(folded, name));
}
