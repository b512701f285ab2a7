import type { EpochClaim } from "@codexkit/exec-server";
import type { z } from "zod";
import type { RelayCredential } from "../credentials/credential.ts";
import { isLoopbackHost } from "../credentials/registry-host.ts";
import { RelayError } from "../errors.ts";
import { type RelayPublicKey, toPublicKeyJson } from "../noise/identity.ts";
import {
  connectedSchema,
  DIRECT_TRANSPORT,
  directRegisteredSchema,
  registeredSchema,
  SECURITY_PROFILE,
  validatedSchema,
} from "./answers.ts";
import { REGISTRY_CALL_LIMITS } from "./limits.ts";
import { postJson } from "./post-json.ts";

export interface RegistryClientOptions {
  /** The base URL, as `parseRegistryUrl` returns it. */
  readonly url: URL;
  readonly environmentId: string;
  readonly credential: RelayCredential;
  /** Allows the registry to name a rendezvous on another machine without TLS. */
  readonly allowInsecureHttp?: boolean;
  /** The environment from which the headers about the caller are read. Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface ExecutorRegistration {
  readonly url: string;
  readonly registrationId: string;
}

/** The data that a harness needs for one connection. The authorization expires. */
export interface HarnessBundle extends ExecutorRegistration {
  readonly executorKey: RelayPublicKey;
  readonly authorization: string;
}

export interface HarnessKeyClaim {
  readonly registrationId: string;
  readonly harnessKey: RelayPublicKey;
  readonly authorization: string;
  readonly streamId: string;
}

/** A registry's answer about a harness that asks for a stream. */
export interface HarnessVerdict {
  readonly isValid: boolean;
  /** The subject on whose behalf the harness connects, and its epoch. */
  readonly claim?: EpochClaim | undefined;
}

/** A client of the registry's HTTP API for one environment. */
export class RegistryClient {
  readonly #options: RegistryClientOptions;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: RegistryClientOptions) {
    this.#options = options;
    this.#headers = callerHeaders(options.env ?? process.env);
  }

  /** Registers an executor. Replaces an earlier registration of the environment. */
  async register(executorKey: RelayPublicKey, signal: AbortSignal): Promise<ExecutorRegistration> {
    const body = { security_profile: SECURITY_PROFILE, executor_public_key: toPublicKeyJson(executorKey) };
    const answer = await this.#call("register", body, registeredSchema, signal);
    return { url: this.#checkedUrl(answer), registrationId: answer.executor_registration_id };
  }

  /** Requests the executor's key, and an authorization for the harness's key. */
  async connect(harnessKey: RelayPublicKey, signal: AbortSignal): Promise<HarnessBundle> {
    const body = { harness_public_key: toPublicKeyJson(harnessKey) };
    const answer = await this.#call("connect", body, connectedSchema, signal);
    return {
      url: this.#checkedUrl(answer),
      registrationId: answer.executor_registration_id,
      executorKey: answer.executor_public_key,
      authorization: answer.harness_key_authorization,
    };
  }

  /** Whether a harness may use this executor. Any answer other than `true` counts as no. */
  async validate(claim: HarnessKeyClaim, signal: AbortSignal): Promise<HarnessVerdict> {
    const answer = await postJson({
      url: this.#urlOf("validate"),
      body: {
        executor_registration_id: claim.registrationId,
        harness_public_key: toPublicKeyJson(claim.harnessKey),
        harness_key_authorization: claim.authorization,
      },
      headers: { ...this.#headers, "x-codex-noise-stream-id": claim.streamId },
      credential: this.#options.credential,
      schema: validatedSchema,
      timeoutMs: REGISTRY_CALL_LIMITS.validateTimeoutMs,
      // The error may contain the authorization.
      hidesErrors: true,
      signal,
    });
    const { valid: isValid, claim: epoch } = answer;
    return { isValid, claim: epoch ? { subject: epoch.sub, epoch: epoch.epoch } : undefined };
  }

  /** Registers an executor whose socket carries plain JSON-RPC. */
  async registerDirect(signal: AbortSignal): Promise<ExecutorRegistration> {
    const answer = await this.#call(
      "direct/register",
      { transport: DIRECT_TRANSPORT },
      directRegisteredSchema,
      signal,
    );
    return { url: this.#checkedUrl(answer), registrationId: answer.registration_id };
  }

  async #call<Answer extends { environment_id: string }>(
    path: string,
    body: object,
    schema: z.ZodType<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> {
    const answer = await postJson({
      url: this.#urlOf(path),
      body,
      headers: this.#headers,
      credential: this.#options.credential,
      schema,
      timeoutMs: REGISTRY_CALL_LIMITS.callTimeoutMs,
      signal,
    });
    if (answer.environment_id === this.#options.environmentId) return answer;
    throw new RelayError("protocol_violation", "The registry's answer is for another environment.");
  }

  #urlOf(path: string): string {
    const { url, environmentId } = this.#options;
    return `${url.href.replace(/\/$/, "")}/cloud/environment/${encodeURIComponent(environmentId)}/${path}`;
  }

  /** If the registry is reached with TLS, the rendezvous must use TLS too. */
  #checkedUrl({ url }: { url: string }): string {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    const isSafe = parsed?.protocol === "wss:" || isLoopbackHost(parsed?.hostname ?? "");
    if (parsed && /^wss?:$/.test(parsed.protocol) && (isSafe || this.#options.allowInsecureHttp === true))
      return url;
    throw new RelayError("protocol_violation", "The registry returned a rendezvous URL that is not wss://.");
  }
}

/** Codex sends the same headers. They help an operator to identify a caller in the registry's log. */
function callerHeaders(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const { OPENAI_CLUSTER: cluster, DD_SERVICE: service } = env;
  return {
    ...(cluster === undefined || cluster === "" ? {} : { "x-cluster-name": cluster }),
    ...(service === undefined || service === "" ? {} : { "x-openai-internal-caller": service }),
  };
}
