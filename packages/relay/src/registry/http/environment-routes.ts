import type { Context, Hono } from "hono";
import type { RegistryScope, RegistryTokenInfo } from "../store/token-store.ts";
import { sha256 } from "../store/secrets.ts";
import { addressOf, type HttpServices } from "./http-services.ts";
import { parseValue, readBody } from "./read-body.ts";
import { RegistryProblem } from "./registry-problem.ts";
import {
  connectBody,
  environmentId as environmentIdSchema,
  type PublicKeyJson,
  registerBody,
  SECURITY_PROFILE,
  streamId as streamIdSchema,
  validateBody,
} from "./schemas.ts";

/** The header in which Codex sends the stream ID of a validation. */
const STREAM_ID_HEADER = "x-codex-noise-stream-id";

/** The calls of Codex's executors and harnesses. Codex defines the paths, members and codes. */
export function addEnvironmentRoutes(app: Hono, services: HttpServices): void {
  const { store, access, audit, limits } = services;
  const path = "/cloud/environment/:environmentId";

  async function authenticate(
    context: Context,
    scope: RegistryScope,
  ): Promise<{
    readonly environmentId: string;
    readonly token: RegistryTokenInfo;
    readonly address: string;
  }> {
    const environmentId = parseValue(
      environmentIdSchema,
      context.req.param("environmentId"),
      "the environment ID",
    );
    const address = addressOf(context);
    const token = await access.require(context.req.header("authorization"), address, {
      scope,
      environmentId,
    });
    return { environmentId, token, address };
  }

  app.post(`${path}/register`, async (context) => {
    const { environmentId, token, address } = await authenticate(context, "execute");
    const body = await readBody(context.req.raw, registerBody, limits.bodyBytes);
    const registered = await store.registrations.register({
      environmentId,
      tokenId: token.id,
      publicKey: JSON.stringify(body.executor_public_key),
      ticketMs: limits.executorTicketMs,
      limit: limits.executorsPerEnvironment,
    });
    if (!registered) {
      throw new RegistryProblem(
        "too_many_executors",
        `The environment already has ${limits.executorsPerEnvironment} connected executors.`,
      );
    }
    const { id, ticket } = registered;
    audit.record({
      event: "executor.registered",
      environment: environmentId,
      registration: id,
      token: token.id,
      address,
    });
    return context.json({
      environment_id: environmentId,
      url: webSocketUrl(services, "executor", ticket),
      security_profile: SECURITY_PROFILE,
      executor_registration_id: id,
    });
  });

  app.use(`${path}/connect`, async (context, next) => {
    await next();
    // A harness calls again when its socket has ended. On a kept-alive connection, the call could fail because the connection is
    // being closed, and Codex's harness does not retry after that.
    context.header("connection", "close");
  });

  app.post(`${path}/connect`, async (context) => {
    const { environmentId, token, address } = await authenticate(context, "connect");
    const body = await readBody(context.req.raw, connectBody, limits.bodyBytes);
    const executor = await store.registrations.findOnline(environmentId);
    if (!executor) {
      throw new RegistryProblem("environment_offline", "No executor of this environment is connected.");
    }
    const grant = await store.grants.create({
      environmentId,
      registrationId: executor.id,
      tokenId: token.id,
      harnessKeyHash: hashOfKey(body.harness_public_key),
      validForMs: limits.authorizationMs,
    });
    audit.record({
      event: "harness.authorized",
      environment: environmentId,
      registration: executor.id,
      grant: grant.id,
      token: token.id,
      address,
    });
    return context.json({
      environment_id: environmentId,
      url: webSocketUrl(services, "harness", grant.ticket),
      security_profile: SECURITY_PROFILE,
      executor_registration_id: executor.id,
      executor_public_key: JSON.parse(executor.public_key) as PublicKeyJson,
      harness_key_authorization: grant.authorization,
    });
  });

  app.post(`${path}/validate`, async (context) => {
    const { environmentId, token, address } = await authenticate(context, "execute");
    const body = await readBody(context.req.raw, validateBody, limits.bodyBytes);
    const header = context.req.header(STREAM_ID_HEADER);
    const harness = await store.grants.check({
      environmentId,
      registrationId: body.executor_registration_id,
      harnessKeyHash: hashOfKey(body.harness_public_key),
      authorization: body.harness_key_authorization,
      streamId: header === undefined ? "" : parseValue(streamIdSchema, header, STREAM_ID_HEADER),
    });
    if (!harness) services.metrics.counters.refuse("invalid_authorization");
    audit.record({
      event: "harness.validated",
      environment: environmentId,
      registration: body.executor_registration_id,
      token: token.id,
      address,
      reason: harness ? undefined : "invalid_authorization",
    });
    const { claim } = harness ?? {};
    return context.json({
      valid: harness !== undefined,
      ...(claim && { claim: { sub: claim.subject, epoch: claim.epoch } }),
    });
  });

  app.post(`${path}/direct/register`, async (context) => {
    await authenticate(context, "execute");
    throw new RegistryProblem(
      "forbidden",
      "This registry does not offer the direct transport, which is not encrypted end to end. Use --remote-transport noise.",
    );
  });
}

function webSocketUrl({ publicUrl }: HttpServices, end: "executor" | "harness", ticket: string): string {
  return `${publicUrl().replace(/^http/, "ws")}/rendezvous/${end}?ticket=${ticket}`;
}

function hashOfKey({ suite, x25519_public_key, mlkem768_public_key }: PublicKeyJson): string {
  return sha256(JSON.stringify([suite, x25519_public_key, mlkem768_public_key]));
}
