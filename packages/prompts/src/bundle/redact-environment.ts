/** Names of variables whose values are secret, by parts of the name. Shells have the current folder in PWD and OLDPWD. */
const SECRET =
  /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|SESSION|PRIVATE|DSN|CONNECTION|WEBHOOK|SALT|SIGNATURE|(?<!^|^OLD)PWD|(?:^|_)(?:PAT|PIN|OTP|JWT)(?:_|$)/i;

/** How well-known kinds of tokens begin. */
const TOKEN = /^(?:sk-|gh[a-z]_|github_pat_|glpat-|npm_|xox[a-z]-|AKIA|ASIA|AIza|eyJ|-----BEGIN)/;

/** Credentials inside an address: `https://user:password@host`. */
const USERINFO = /\/\/[^/@\s]+@/;

const REDACTED = "[redacted]";

/** The environment with the values of secrets replaced. */
export function redactEnvironment(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const entries = Object.entries(environment).map(([name, value = ""]) => [
    name,
    SECRET.test(name) || USERINFO.test(value) || TOKEN.test(value) ? REDACTED : value,
  ]);
  return Object.fromEntries(entries) as Readonly<Record<string, string>>;
}
