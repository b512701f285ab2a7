import { BoundedMap, TokenBucket } from "@codexkit/rpc/async";
import type { RegistryScope, RegistryTokenInfo, TokenStore } from "../store/token-store.ts";
import { RegistryProblem } from "./registry-problem.ts";

/** Number of addresses whose failures are counted. The one that was added first is dropped. */
const MAX_ADDRESSES = 10_000;

/** Checks credentials, and limits how often an address may fail. */
export class Access {
  readonly #tokens: TokenStore;
  readonly #failures: BoundedMap<string, TokenBucket>;
  readonly #failuresPerMinute: number;

  constructor(tokens: TokenStore, failuresPerMinute: number) {
    this.#tokens = tokens;
    this.#failuresPerMinute = failuresPerMinute;
    this.#failures = new BoundedMap(MAX_ADDRESSES);
  }

  /**
   * Returns the token of a request, which must have the scope and be valid for the environment. Requests with a valid token are
   * never limited. Otherwise, other clients at the same address, such as that of a proxy, could lock its owner out.
   */
  async require(
    authorization: string | undefined,
    address: string,
    { scope, environmentId }: { readonly scope: RegistryScope; readonly environmentId?: string },
  ): Promise<RegistryTokenInfo> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    const info = token === undefined ? undefined : await this.#tokens.verify(token);
    if (!info) {
      throw (
        this.countFailure(address) ??
        new RegistryProblem(
          "unauthorized",
          token === undefined
            ? "Send a token as `Authorization: Bearer <token>`."
            : "The token is unknown, expired or revoked.",
        )
      );
    }
    if (info.replacedBy !== null) {
      const { epoch } = info.claim ?? {};
      throw new RegistryProblem(
        "replaced",
        `Epoch ${epoch} of this subject has been replaced by epoch ${info.replacedBy}.`,
      );
    }
    if (!info.scopes.includes(scope)) {
      throw new RegistryProblem("forbidden", `This needs a token with the scope "${scope}".`);
    }
    if (environmentId !== undefined && info.environmentId !== null && info.environmentId !== environmentId) {
      throw new RegistryProblem("forbidden", "The token is not valid for this environment.");
    }
    return info;
  }

  /** Counts a wrong credential. Returns a problem if the address has sent too many. */
  countFailure(address: string): RegistryProblem | undefined {
    let bucket = this.#failures.get(address);
    if (!bucket) {
      const limit = this.#failuresPerMinute;
      this.#failures.set(address, (bucket = new TokenBucket({ perSecond: limit / 60, burst: limit })));
    }
    if (bucket.tryTake(1) === 0) return undefined;
    return new RegistryProblem("rate_limited", "Too many requests with wrong credentials. Try again later.");
  }
}
