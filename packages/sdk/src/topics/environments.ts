import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { CodexError } from "../errors.ts";

/** An exec-server on which threads can run commands. */
export interface NewEnvironment {
  readonly id: string;
  /** `ws://` or `wss://`. */
  readonly url: string;
  readonly bearerToken?: string;
  readonly connectTimeoutMs?: number;
}

/** Machines on which threads can run commands, in addition to the server's own, `"local"`. */
export class Environments {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Registers an exec-server. Threads select it by id in their `environments` option. The server connects on first use. */
  async add(
    { id, url, bearerToken, connectTimeoutMs }: NewEnvironment,
    options: CallOptions = {},
  ): Promise<void> {
    // The server accepts any URL and then never connects to it.
    if (!/^wss?:$/.test(URL.parse(url)?.protocol ?? "")) {
      throw new CodexError(
        "invalid_argument",
        `The url of an environment must start with ws:// or wss://, got "${url}".`,
      );
    }
    const params = {
      environmentId: id,
      execServerUrl: url,
      authBearerToken: bearerToken ?? null,
      connectTimeoutMs: connectTimeoutMs ?? null,
    };
    await this.#caller.request("environment/add", params, options);
  }

  /** Reads the environment's shell and working directory, a `file:` URL. Connects if necessary. */
  info(id: string, options: CallOptions = {}): Promise<v2.EnvironmentInfoResponse> {
    return this.#caller.request("environment/info", { environmentId: id }, options);
  }

  /** Reads whether the environment is registered and connected. Does not connect. */
  status(id: string, options: CallOptions = {}): Promise<v2.EnvironmentStatusResponse> {
    return this.#caller.request("environment/status", { environmentId: id }, options);
  }
}
