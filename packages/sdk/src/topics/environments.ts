import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { CodexError } from "../errors.ts";

/** An exec-server that threads may run their commands on. */
export interface NewEnvironment {
  readonly id: string;
  /** `ws://` or `wss://`. */
  readonly url: string;
  readonly bearerToken?: string;
  readonly connectTimeoutMs?: number;
}

/** The machines that threads may run commands on, beside the server's own, which is `"local"`. */
export class Environments {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Makes an exec-server known by a name; threads use it by their option `environments`. Connects later, when needed. */
  async add(
    { id, url, bearerToken, connectTimeoutMs }: NewEnvironment,
    options: CallOptions = {},
  ): Promise<void> {
    // The server takes any address, and then never reaches it.
    if (!/^wss?:$/.test(URL.parse(url)?.protocol ?? "")) {
      throw new CodexError("invalid_argument", `An environment's url must be ws or wss, got "${url}".`);
    }
    const params = {
      environmentId: id,
      execServerUrl: url,
      authBearerToken: bearerToken ?? null,
      connectTimeoutMs: connectTimeoutMs ?? null,
    };
    await this.#caller.request("environment/add", params, options);
  }

  /** Its shell and its folder, a `file:` address. Connects if need be. */
  info(id: string, options: CallOptions = {}): Promise<v2.EnvironmentInfoResponse> {
    return this.#caller.request("environment/info", { environmentId: id }, options);
  }

  /** Whether it is there, without connecting. */
  status(id: string, options: CallOptions = {}): Promise<v2.EnvironmentStatusResponse> {
    return this.#caller.request("environment/status", { environmentId: id }, options);
  }
}
