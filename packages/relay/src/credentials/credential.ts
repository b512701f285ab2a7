import { RelayError } from "../errors.ts";

/** A request to be authorized. */
export interface UnsignedRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Authorizes requests to a registry, and WebSocket upgrades of the `direct` transport. */
export interface RelayCredential {
  /** The headers to add. Called for each request, because tokens expire and signatures cover the request. */
  authorize(request: UnsignedRequest, signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
}

/** Characters of a bearer token (RFC 6750). Other characters could corrupt the header, or be invisible in it. */
const TOKEN = /^[\w.~+/-]+=*$/;

/** A fixed bearer token. Throws `bad_option` if it can't be one. */
export function bearerToken(token: string, { accountId }: { accountId?: string } = {}): RelayCredential {
  if (!TOKEN.test(token)) {
    throw new RelayError(
      "bad_option",
      "The token for the registry contains characters that are not allowed in a token, such as spaces.",
    );
  }
  const headers = bearerHeaders(token, accountId);
  return { authorize: () => Promise.resolve(headers) };
}

export function bearerHeaders(token: string, accountId?: string): Readonly<Record<string, string>> {
  return {
    authorization: `Bearer ${token}`,
    ...(accountId === undefined ? {} : { "chatgpt-account-id": accountId }),
  };
}
