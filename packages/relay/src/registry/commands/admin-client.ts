import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { parseRegistryUrl } from "../../credentials/registry-host.ts";
import { RelayError, type RelayErrorCode } from "../../errors.ts";
import type { RegisteredEnvironment } from "../store/registration-store.ts";
import type { NewRegistryToken, RegistryTokenInfo } from "../store/token-store.ts";

/** The address of a registry, and the file of a token with the scope `admin`. */
export interface AdminOptions {
  readonly url: string;
  readonly tokenFile?: string;
  readonly allowInsecureHttp?: boolean;
}

const CALL_MS = 30_000;
const refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** Manages a registry through its API, because only the registry itself has its store open. */
export class AdminClient {
  readonly #url: string;
  readonly #token: string;

  private constructor(url: string, token: string) {
    this.#url = url.replace(/\/+$/, "");
    this.#token = token;
  }

  static async open({
    url,
    tokenFile = join(homedir(), ".codexkit", "registry", "admin-token"),
    allowInsecureHttp = false,
  }: AdminOptions): Promise<AdminClient> {
    const { href } = parseRegistryUrl(url, allowInsecureHttp, "--url");
    try {
      return new AdminClient(href, (await readFile(tokenFile, "utf8")).trim());
    } catch (error) {
      throw new RelayError(
        "bad_option",
        `The file of the admin token, ${tokenFile}, can't be read. Name it with --token-file.`,
        { cause: error },
      );
    }
  }

  async createToken(token: NewRegistryToken): Promise<{ token: string; info: RegistryTokenInfo }> {
    return (await this.#call("POST", "/admin/tokens", token)) as { token: string; info: RegistryTokenInfo };
  }

  async listTokens(): Promise<readonly RegistryTokenInfo[]> {
    const { tokens } = (await this.#call("GET", "/admin/tokens")) as { tokens: RegistryTokenInfo[] };
    return tokens;
  }

  async revokeToken(id: string): Promise<void> {
    await this.#call("DELETE", `/admin/tokens/${encodeURIComponent(id)}`);
  }

  async listEnvironments(): Promise<readonly RegisteredEnvironment[]> {
    const answer = (await this.#call("GET", "/admin/environments")) as {
      environments: RegisteredEnvironment[];
    };
    return answer.environments;
  }

  async #call(method: string, path: string, body?: unknown): Promise<unknown> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#url + path, {
        method,
        redirect: "error",
        signal: AbortSignal.timeout(CALL_MS),
        headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      text = await response.text();
    } catch (error) {
      throw new RelayError(
        "connect_failed",
        `The registry at ${this.#url} can't be reached. Start it with \`codexkit-relay registry serve\`, or name its address with --url.`,
        { cause: error },
      );
    }
    const answer = text === "" ? undefined : parse(text);
    if (response.ok) return answer;
    const { error } = refusal.safeParse(answer).data ?? {};
    throw new RelayError(
      codeOf(response.status),
      error?.message ?? `The registry answered ${response.status}.`,
    );
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function codeOf(status: number): RelayErrorCode {
  return status === 401 || status === 403 ? "unauthorized" : "refused";
}
