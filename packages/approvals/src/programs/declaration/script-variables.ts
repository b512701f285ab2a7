/**
 * Names that scripts use for their own values. A positive list, because an assignment to a variable that is already exported
 * affects later programs (`PATH`, `http_proxy`), and because zsh ties some names to others (`path`).
 */
const OWN_NAMES = new Set(
  (
    "app arg args base branch cfg code col commit config count day dest dir dirs dst entry ext file files fn folder " +
    "idx img index item items key lang lib line log mod mode module month msg name num out output pkg pkgs port proj " +
    "project rc repo res result ret rev root row script sha size spec src step sub suite svc tag target tmp url val " +
    "value ver version word ws year"
  ).split(" "),
);

export function isOwnVariable(name: string): boolean {
  // The locale is exported already.
  if (name === "LANG") return false;
  return /^[a-zA-Z]$/.test(name) || OWN_NAMES.has(name) || OWN_NAMES.has(name.toLowerCase());
}

/** Inherited variables without secrets. Their values are not known, but printing them is harmless. */
const INHERITED = new Set(
  (
    "CI COLUMNS EDITOR GOPATH HOSTNAME JAVA_HOME LANG LOGNAME NODE_ENV OLDPWD OSTYPE PATH RANDOM SECONDS SHELL SHLVL TERM " +
    "TMPDIR UID USER VIRTUAL_ENV"
  ).split(" "),
);

export function isInherited(name: string): boolean {
  return INHERITED.has(name);
}
