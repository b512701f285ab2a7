import { NEVER_PASSED } from "../process/child-env.ts";
import type { HttpParams } from "../wire/http-params.ts";
import { CODES, Refusal } from "../wire/refusal.ts";

/** Variables with the machine's own keys, which no request may put into a header. */
const PROTECTED = new Set([
  ...NEVER_PASSED,
  "OPENAI_API_KEY",
  "CODEX_API_KEY",
  "CODEX_ACCESS_TOKEN",
  "CODEX_CONNECTORS_TOKEN",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AZURE_CLIENT_SECRET",
  "AZURE_FEDERATED_TOKEN_FILE",
  "GOOGLE_APPLICATION_CREDENTIALS",
]);

/** Returns names and values alternately, in their original order, with variables filled in. */
export function requestHeaders(headers: HttpParams["headers"], env: NodeJS.ProcessEnv): [string, string][] {
  return (headers ?? []).map(({ name, value, valueEnvVar }) => {
    const full = typeof valueEnvVar === "string" ? value + variable(valueEnvVar, env) : value;
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw refused(`The header name \`${name}\` is invalid.`);
    if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(full))
      throw refused(`The value of the header \`${name}\` is invalid.`);
    return [name, full];
  });
}

function variable(name: string, env: NodeJS.ProcessEnv): string {
  if (PROTECTED.has(name.toUpperCase()))
    throw refused(`The environment variable \`${name}\` must not be sent.`);
  const value = env[name];
  if (value === undefined || value === "") throw refused(`The environment variable \`${name}\` is not set.`);
  return value;
}

function refused(message: string): Refusal {
  return new Refusal(CODES.invalidParams, message);
}
