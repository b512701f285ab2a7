/** Matches the names of variables with secret values. Excludes PWD and OLDPWD, in which shells store the current folder. */
const SECRET =
  /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|SESSION|PRIVATE|DSN|CONNECTION|WEBHOOK|SALT|SIGNATURE|(?<!^|^OLD)PWD|(?:^|_)(?:PAT|PIN|OTP|JWT)(?:_|$)/i;

/** Prefixes of well-known token formats. */
const TOKEN = /^(?:sk-|gh[a-z]_|github_pat_|glpat-|npm_|xox[a-z]-|AKIA|ASIA|AIza|eyJ|-----BEGIN)/;

/** Credentials in a URL: `https://user:password@host`. */
const USERINFO = /\/\/[^/@\s]+@/;

const REDACTED = "[redacted]";

/** Returns a copy of the environment with secret values replaced. */
export function redactEnvironment(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const entries = Object.entries(environment).map(([name, value = ""]) => [
    name,
    SECRET.test(name) || USERINFO.test(value) || TOKEN.test(value) ? REDACTED : value,
  ]);
  return Object.fromEntries(entries) as Readonly<Record<string, string>>;
}
