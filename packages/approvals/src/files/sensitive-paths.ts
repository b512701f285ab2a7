import { matchesPattern } from "./glob.ts";
import { isInside } from "./path.ts";

type Names = readonly string[];

/** The target of `~` if the policy has no home folder. No real folder has this name. */
export const SOME_HOME = "/~";

/** Secrets below a home folder, in lower case. */
const HOME_CREDENTIALS = [
  // Keys, passwords and wallets.
  "_netrc .bitcoin .electrum .git-credentials .gnupg .gpg .local/share/keyrings .my.cnf .netrc .npmrc .password-store .pgpass",
  ".pypirc .ssh .vault-token library/keychains",
  // Services and registries.
  ".aws .azure .cargo/credentials .cargo/credentials.toml .config/doctl .config/gcloud .config/gh .config/heroku .config/hub",
  ".config/op .config/rclone .docker/config.json .gem/credentials .kube/config .terraform.d/credentials.tfrc.json",
  // Agents and browsers.
  ".claude/.credentials.json .codex/auth.json .config/chromium .config/google-chrome .mozilla",
  // Histories of typed commands, which may contain secrets.
  ".bash_history .mysql_history .node_repl_history .psql_history .zsh_history",
].flatMap((paths) => paths.split(" "));

const SYSTEM_CREDENTIALS =
  /^\/(?:etc\/(?:shadow|gshadow|sudoers|master\.passwd|ssl\/private|krb5\.keytab|kubernetes\/.*\.conf)|proc\/(?:self|thread-self|\d+|\*)\/(?:environ|mem|root)|(?:var\/)?run\/secrets)(?:[-./]|\.d|$)/;
/** Secrets of the whole system, to check folders and patterns that include them. */
const SYSTEM_SECRETS = [
  "/etc/gshadow /etc/krb5.keytab /etc/kubernetes/admin.conf /etc/master.passwd /etc/shadow /etc/ssl/private /etc/sudoers",
  "/proc/*/environ /proc/*/mem /run/secrets /var/run/secrets",
].flatMap((paths) => paths.split(" ").map((path): Names => path.split("/")));
const KEY_FILE = /\/(?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|[^/]*\.(?:kdbx|keychain-db|ovpn))$/;
/** Files that shells, schedulers and log-ins run automatically. */
const HOME_PROFILES =
  /^(?:\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|mkshrc|cshrc|tcshrc|login|inputrc|xprofile|xinitrc|xsession|pam_environment|ssh\/(?:authorized_keys2?|rc|environment|config)|vimrc|vim|gdbinit|lldbinit|gitconfig|tmux\.conf|screenrc|emacs|emacs\.d|psqlrc|sqliterc|irbrc|pryrc|pythonrc|direnvrc|bashrc\.d|bash_completion|zsh|oh-my-zsh|xbindkeysrc|cargo\/config(?:\.toml)?|config\/(?:fish|bash|zsh|git|direnv|nvim|autostart|systemd|environment\.d|plasma-workspace)|local\/share\/systemd|local\/lib\/python[^/]*\/site-packages\/(?:usercustomize\.py|sitecustomize\.py|[^/]*\.pth))|library\/(?:launchagents|launchdaemons)|appdata\/roaming\/microsoft\/windows\/start menu|documents\/(?:windows)?powershell)(?:\/|$)/;
const SYSTEM_PROFILES =
  /^\/(?:etc\/(?:profile|bash\.bashrc|bashrc|zsh|zshrc|zshenv|cron|anacrontab|at\.|systemd|init\.d|rc\.local|rc\d?\.d|ld\.so\.preload|ld\.so\.conf|pam\.d|sudoers|xdg\/autostart|update-motd\.d|environment|inetd|xinetd)|var\/spool\/(?:cron|at)|(?:usr\/)?lib\/systemd|library\/launch(?:agents|daemons)|system\/library\/launch(?:agents|daemons))/;
const SYSTEM_FOLDERS =
  /^(?:[A-Za-z]:)?\/(?:bin|boot|dev|efi|etc|lib|lib32|lib64|libx32|opt|proc|root|run|sbin|snap|srv|sys|usr|var|system|library|applications|private\/(?:etc|var)|windows|program files|program files \(x86\)|programdata)(?:\/|$)/;
/** System folders that no project writes to. */
const SYSTEM_OWN =
  /^(?:[A-Za-z]:)?\/(?:bin|boot|efi|etc|lib|lib32|lib64|libx32|proc|sbin|sys|usr\/(?!local\/|src\/)|usr$|var\/(?:lib|log|spool|cache)|system|library|private\/etc|windows|program files|program files \(x86\)|programdata)(?:\/|$|(?<=usr\/))/;
export const HARMLESS_DEVICE = /^\/dev\/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr)$/;

/** The part of a path below any home folder, in lower case. Undefined outside of home folders. */
export function belowHome(path: string, home: string): string | undefined {
  // Whatever the case, because some file systems ignore it.
  const [lower, own] = [path.toLowerCase(), home.toLowerCase()];
  if (lower === own) return "";
  if (lower.startsWith(`${own}/`)) return lower.slice(own.length + 1);
  const match =
    /^(?:[A-Za-z]:\/users\/[^/]+|\/home\/[^/]+|\/users\/[^/]+|\/root|\/var\/root|\/~[^/]*)(?:\/(.*))?$/i.exec(
      path,
    );
  return match === null ? undefined : (match[1] ?? "").toLowerCase();
}

/** Whether reading this file reveals a secret. A glob in the first segment below home may match one. */
export function isCredential(path: string, home: string): boolean {
  const below = belowHome(path, home);
  if (below !== undefined && HOME_CREDENTIALS.some((secret) => isInside(secret, below))) return true;
  if (below !== undefined && /^(?:\.[^/]*[*?[]|[*?[])[^/]*(?:\/|$)/.test(below)) return true;
  return SYSTEM_CREDENTIALS.test(path.toLowerCase()) || KEY_FILE.test(path.toLowerCase());
}

/** Whether a folder, or one that a pattern may match, contains secrets. */
export function holdsCredentials(folder: string, home: string, withHidden: boolean): boolean {
  const names = folder === "/" ? [""] : folder.split("/");
  return secretsOf(home).some(
    (secret) =>
      names.length <= secret.length &&
      names.every((name, at) => secret[at] === "*" || matchesPattern(name, secret[at] ?? "")) &&
      (withHidden || !secret.slice(names.length).some((name) => name.startsWith("."))),
  );
}

export function matchesCredential(pattern: string, home: string): boolean {
  const names = pattern.toLowerCase().split("/");
  const mayLeadHome = leadsTo(names, home.toLowerCase().split("/"));
  return (
    /\/id_[^/]*[*?[][^/]*$/.test(pattern) ||
    (mayLeadHome ? secretsOf(home.toLowerCase()) : SYSTEM_SECRETS).some((secret) => leadsTo(names, secret))
  );
}

function secretsOf(home: string): readonly Names[] {
  return [...SYSTEM_SECRETS, ...HOME_CREDENTIALS.map((path) => `${home}/${path}`.split("/"))];
}

/** Whether a path that matches a pattern may be a secret, or below one. */
function leadsTo([name, ...names]: Names, [wanted, ...others]: Names): boolean {
  if (wanted === undefined) return true;
  // `**` matches any number of folders.
  if (name === undefined || name === "**") return name === "**";
  return (wanted === "*" || matchesPattern(name, wanted)) && leadsTo(names, others);
}

/** Folders directly below home in which people keep their files and programs keep their settings. */
export const HOME_FOLDER =
  /^(?:documents|desktop|pictures|music|videos|movies|library|\.config|\.local(?:\/share)?)$/;

export function isProfile(path: string, home: string): boolean {
  const below = belowHome(path, home);
  return (below !== undefined && HOME_PROFILES.test(below)) || SYSTEM_PROFILES.test(path.toLowerCase());
}

export function isSystemFolder(path: string): boolean {
  return path === "/" || SYSTEM_FOLDERS.test(path.toLowerCase());
}

export function isSystemOwn(path: string): boolean {
  return path === "/" || SYSTEM_OWN.test(path.toLowerCase());
}
