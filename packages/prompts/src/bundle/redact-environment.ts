/** Names of variables whose values are secret, by parts of the name. */
const SECRET =
  /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH|COOKIE|SESSION|PRIVATE|DSN|CONNECTION|WEBHOOK/i;

/** Credentials inside an address: `https://user:password@host`. */
const USERINFO = /\/\/[^/@\s]+@/;

const REDACTED = "[redacted]";

/** The environment with the values of secrets replaced. */
export function redactEnvironment(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const entries = Object.entries(environment).map(([name, value = ""]) => [
    name,
    SECRET.test(name) || USERINFO.test(value) ? REDACTED : value,
  ]);
  return Object.fromEntries(entries) as Readonly<Record<string, string>>;
}
