import { withTimeout } from "@codexkit/rpc/async";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { Context } from "hono";
import { DaemonError } from "../errors.ts";
import { TOKEN_COOKIE, toIdentity, verifyToken } from "./authenticate.ts";
import type { Handlers, HttpServices } from "./handler.ts";
import type { StreamCounter } from "./stream-counter.ts";
import { viewToken } from "../views.ts";

/** Delay after which a load balancer or a client should retry. */
const RETRY_SECONDS = 5;
/** Browsers limit cookies to 400 days. The token itself may end earlier. */
const COOKIE_SECONDS = 90 * 24 * 3600;

export function createOperationHandlers(
  services: HttpServices,
  streams: StreamCounter,
  /** The OpenAPI document as JSON. It is cached, because it is large and served without a token. */
  document: string,
) {
  const { database, runner, metrics, limits } = services;
  const { tokens, logins, tenants, audit, store, fleet } = database;
  let storeCheck: Promise<void> | undefined;
  /** All requests share one check. Otherwise, those of an outage would occupy all connections to the store. */
  const checkStore = async (): Promise<void> => {
    storeCheck ??= store.check().finally(() => (storeCheck = undefined));
    await withTimeout(
      storeCheck,
      limits.readyMs,
      () =>
        new DaemonError("store_unavailable", `The store did not answer within ${limits.readyMs} ms.`, {
          details: { retryAfter: RETRY_SECONDS },
        }),
    );
  };
  return {
    "GET /models": async ({ signal }) => ({ data: [...(await runner.models({ signal }))] }),
    "GET /account": async ({ signal }) => runner.account({ signal }),
    "GET /account/quotas": async ({ signal }) => ({ data: await runner.quotas({ signal }) }),
    "GET /credentials": async () => runner.credentialStatus(),

    "POST /login": async ({ body, context }) => {
      const { token, info } =
        "code" in body
          ? await logins.redeemCode(body.code, body.device)
          : await logins.create((await verifyToken(body.token, tokens)).id, { device: body.device });
      setCookie(context, TOKEN_COOKIE, token, { ...cookieOptions(context), maxAge: COOKIE_SECONDS });
      return toIdentity(info);
    },
    "POST /login-codes": async ({ body, identity }) => {
      if (services.auth === "none") {
        throw new DaemonError("unprocessable", "This daemon runs without tokens, so no login is needed.");
      }
      return logins.createCode(identity.id, body);
    },
    "POST /logout": async ({ context }) => {
      const login = await tokens.verify(getCookie(context, TOKEN_COOKIE) ?? "");
      if (login && login.parent_id !== null) await tokens.revoke(login.id, login.id);
      deleteCookie(context, TOKEN_COOKIE, cookieOptions(context));
      return undefined;
    },
    "GET /whoami": async ({ identity }) => identity,

    "GET /tokens": async () => ({ data: (await tokens.list()).map(viewToken) }),
    "POST /tokens": async ({ body: { name, scopes, expiresAt, tenant }, identity }) => {
      if (tenant !== undefined) await tenants.require(tenant);
      const { token, info } = await tokens.create({
        name,
        scopes: [...new Set(scopes)],
        ...(expiresAt !== undefined && { expiresAt }),
        ...(tenant !== undefined && { tenant }),
        by: identity.id,
      });
      return { token, info: viewToken(info) };
    },
    "DELETE /tokens/{tokenId}": async ({ params: { tokenId }, identity }) => {
      if (!(await tokens.revoke(tokenId, identity.id))) {
        throw new DaemonError("not_found", `There is no token "${tokenId}".`);
      }
      return undefined;
    },
    "GET /audit": async ({ query: { cursor, limit } }) => {
      const { rows, nextCursor } = await audit.list({ ...(cursor !== undefined && { cursor }), limit });
      const data = rows.map(({ session_id: sessionId, detail, ...row }) => ({
        ...row,
        sessionId,
        detail: JSON.parse(detail) as Record<string, unknown>,
      }));
      return { data, next: nextCursor ?? null };
    },

    "GET /health": async () => ({ status: "ok" as const, version: services.version }),
    "GET /ready": async () => {
      await checkStore();
      const { state, fleet: fleetStatus } = runner.status;
      if (state !== "running") {
        throw new DaemonError("draining", `The daemon is not accepting commands: it is ${state}.`, {
          details: { state, retryAfter: RETRY_SECONDS },
        });
      }
      if (fleetStatus.isFrozen) {
        throw new DaemonError(
          "store_unavailable",
          "This node could not renew its lease in time. Its turns are paused until the renewal succeeds.",
          { details: { state: "frozen", retryAfter: RETRY_SECONDS } },
        );
      }
      return { ready: true, store: "ok" as const, runner: state };
    },
    "GET /metrics": async () =>
      new Response(await metrics.registry.metrics(), {
        headers: { "content-type": metrics.registry.contentType, "cache-control": "no-store" },
      }),
    "GET /diagnostics": async () => ({
      version: services.version,
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
      uptimeMs: Math.round(process.uptime() * 1000),
      memoryBytes: process.memoryUsage.rss(),
      store: { kind: store.kind, notifications: store.notifier.mode },
      runner: { ...runner.status },
      nodes: [...(await fleet.list(runner.status.nodeId))],
      streams: streams.counts,
      limits: { ...limits },
      roots: [...services.roots],
    }),
    "GET /openapi.json": async () =>
      new Response(document, {
        headers: { "content-type": "application/json", "cache-control": "no-store" },
      }),
  } satisfies Partial<Handlers>;
}

function cookieOptions(context: Context) {
  return {
    httpOnly: true,
    sameSite: "Strict",
    path: "/",
    // Browsers reject `Secure` cookies on http pages, except on some loopback names.
    secure: new URL(context.req.url).protocol === "https:",
  } as const;
}
