import { collectBytes } from "@codexkit/rpc/async";
import type { z } from "zod";
import type { RelayCredential } from "../credentials/credential.ts";
import { RelayError } from "../errors.ts";
import { errorSchema } from "./answers.ts";
import { REGISTRY_CALL_LIMITS } from "./limits.ts";

export interface PostJsonOptions<Answer> {
  readonly url: string;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
  readonly credential: RelayCredential;
  readonly schema: z.ZodType<Answer>;
  readonly timeoutMs: number;
  /** Whether the bodies of errors are kept out of messages. */
  readonly hidesErrors?: boolean;
  readonly signal: AbortSignal;
}

const FORBIDDEN = new Set([401, 403]);
/** Statuses after which the same request may succeed later. */
const TEMPORARY = new Set([408, 429]);
const CONFLICT = 409;
const FIRST_SERVER_ERROR = 500;

/** Posts JSON to a registry and parses the answer. Never follows redirects: the headers hold a credential. */
export async function postJson<Answer>(options: PostJsonOptions<Answer>): Promise<Answer> {
  const body = JSON.stringify(options.body);
  const headers = { "content-type": "application/json", ...options.headers };
  // Without a timeout, because a credential on stdin arrives when the parent process sends it.
  const added = await authorize(options, headers, body);
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([options.signal, timeout]);
  let status: number;
  let text: string;
  try {
    const response = await fetch(options.url, {
      method: "POST",
      body,
      headers: { ...headers, ...added },
      redirect: "manual",
      signal,
    });
    ({ status } = response);
    text = await readText(response);
  } catch (error) {
    throw toRelayError(error, options, timeout);
  }
  const isSuccess = status >= 200 && status < 300;
  if (!isSuccess) throw statusError(status, text, options.hidesErrors ?? false);
  return parseAnswer(text, options.schema);
}

async function authorize(
  { credential, url, signal }: PostJsonOptions<unknown>,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Readonly<Record<string, string>>> {
  try {
    return await credential.authorize({ method: "POST", url, headers, body }, signal);
  } catch (error) {
    if (signal.aborted) throw abortedError(signal);
    throw error;
  }
}

async function readText(response: Response): Promise<string> {
  const { answerBytes } = REGISTRY_CALL_LIMITS;
  const bytes = await collectBytes(response.body, answerBytes);
  if (bytes) return bytes.toString("utf8");
  throw new RelayError("limit", `The registry's answer has more than ${answerBytes} bytes.`);
}

function parseAnswer<Answer>(text: string, schema: z.ZodType<Answer>): Answer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RelayError("protocol_violation", "The registry's answer is not JSON.");
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  // The path and the reason name members, never their values.
  throw new RelayError(
    "protocol_violation",
    `The registry's answer has an unexpected \`${issue?.path.join(".") ?? ""}\`.`,
  );
}

function statusError(status: number, text: string, hidesErrors: boolean): RelayError {
  const { error } = errorSchema.parse(hidesErrors ? undefined : parseLoosely(text));
  const code = printable(error.code);
  const detail = [code, printable(error.message)].filter((part) => part !== "").join(": ");
  const suffix = detail === "" ? "" : ` (${detail})`;
  if (FORBIDDEN.has(status)) {
    return new RelayError("unauthorized", `The registry refused the credentials with ${status}${suffix}.`);
  }
  if (status === CONFLICT && error.code === "environment_offline") {
    return new RelayError("environment_offline", `The environment has no connected executor${suffix}.`);
  }
  if (status >= FIRST_SERVER_ERROR || TEMPORARY.has(status)) {
    return new RelayError("connect_failed", `The registry is not available: it answered ${status}${suffix}.`);
  }
  if (status >= 300 && status < 400) {
    return new RelayError(
      "refused",
      `The registry answered with a redirect (${status}), which is not followed.`,
    );
  }
  return new RelayError("refused", `The registry refused the request with ${status}${suffix}.`);
}

function parseLoosely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Removes control characters from a text of another program and shortens it, because it is written to terminals and logs. */
function printable(text: string): string {
  return text.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, " ").slice(0, REGISTRY_CALL_LIMITS.errorCharacters);
}

function toRelayError(error: unknown, options: PostJsonOptions<unknown>, timeout: AbortSignal): RelayError {
  if (RelayError.is(error)) return error;
  if (options.signal.aborted) return abortedError(options.signal);
  const { host } = new URL(options.url);
  if (timeout.aborted) {
    return new RelayError(
      "timeout",
      `The registry at ${host} did not answer within ${options.timeoutMs} ms.`,
    );
  }
  return new RelayError("connect_failed", `The registry at ${host} can't be reached${reasonOf(error)}.`, {
    cause: error,
  });
}

function abortedError(signal: AbortSignal): RelayError {
  return new RelayError("aborted", "The call to the registry was aborted.", { cause: signal.reason });
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
}
