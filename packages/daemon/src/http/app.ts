import { getConnInfo } from "@hono/node-server/conninfo";
import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import { createProblem } from "../api/problem.ts";
import { type Method, type Route, splitKey } from "../api/route.ts";
import { routes } from "../api/routes/index.ts";
import type { Identity } from "../api/token.ts";
import { DaemonError } from "../errors.ts";
import { type ForwardedRequest, ForwardTokens } from "../fleet/forward-token.ts";
import { locateSession, machineAway, nodeUnavailable } from "../fleet/locate-session.ts";
import type { FleetNode } from "../fleet-store/node-directory.ts";
import type { HttpLimits } from "../limits.ts";
import { readOnly } from "../replay/replay-runner.ts";
import { STATIC_PREFIX, type StaticFiles } from "./static-files.ts";
import { authenticate, requireScope } from "./authenticate.ts";
import { checkOrigin } from "./check-origin.ts";
import type { HandlerRequest, Handlers, HttpServices } from "./handler.ts";
import { parseRequest } from "./parse-request.ts";
import { problemResponse, quote, toProblem } from "./problems.ts";
import { describeRequest, FORWARD_HEADER } from "./proxy/forwarded.ts";
import { OwnerProxy } from "./proxy/owner-proxy.ts";
import { RateLimiter } from "./rate-limiter.ts";
import { upgradeOf } from "./upgrade.ts";

const ANONYMOUS: Identity = { id: "anonymous", name: "anonymous", scopes: [], tenant: "" };

/** Creates the hono app of a route table. Checks, parsing and errors are the same for all routes. */
export function createApp(services: HttpServices, handlers: Handlers): Hono {
  const app = new Hono();
  const { staticFiles } = services;
  const tokens = new ForwardTokens(services.database.store, services.fleetLimits);
  const proxy = new OwnerProxy({ ...services, tokens });
  const guard = createGuard(services, tokens);
  const limitFailures = createFailureLimit(services);
  // Runs before CORS and routing, so that other sites can't find out which paths exist.
  app.use(async (context, next) => {
    const isPage = staticFiles !== undefined && /^\/(?:console(?:\/|$)|$)/.test(context.req.path);
    checkOrigin(context.req.raw, services.origins, { isPage });
    await next();
  });
  if (services.origins.allowedOrigins.length > 0) {
    app.use(cors({ origin: [...services.origins.allowedOrigins], credentials: true }));
  }
  if (staticFiles) addStaticFiles(app, staticFiles);
  const methods = new Map<string, Method[]>();
  for (const [key, route] of Object.entries(routes) as [keyof Handlers, Route][]) {
    const { method, path } = splitKey(key);
    const pattern = path.replaceAll(/\{(\w+)\}/g, ":$1");
    methods.set(pattern, [...(methods.get(pattern) ?? []), method]);
    // The table ties each handler to its route. Here, all routes are handled in the same way.
    const handler = handlers[key] as (request: HandlerRequest<Route>) => Promise<unknown>;
    app.on(method, pattern, async (context) => answer(context, key, route, handler));
  }
  for (const [pattern, allowed] of methods) {
    app.all(pattern, (context) =>
      problemResponse(
        createProblem(
          "method_not_allowed",
          `${context.req.method} is not allowed here. Use ${allowed.join(", ")}.`,
        ),
        { allow: allowed.join(", ") },
      ),
    );
  }
  app.notFound((context) =>
    problemResponse(
      createProblem("not_found", `There is no route ${quote(context.req.path)}. See /openapi.json.`),
    ),
  );
  app.onError((error, context) => fail(error, context));

  async function answer(
    context: Context,
    key: string,
    route: Route,
    handler: (request: HandlerRequest<Route>) => Promise<unknown>,
  ): Promise<Response> {
    const startedAt = performance.now();
    let identity = ANONYMOUS;
    let response: Response;
    try {
      const caller = await guard(context, key, route);
      ({ identity } = caller);
      if (services.isReadOnly && isMutation(key, route)) throw readOnly();
      const parsed = await parseRequest(context, route, maxBodyBytes(route, services.limits));
      response =
        "problem" in parsed
          ? problemResponse(parsed.problem)
          : toResponse(
              context,
              route,
              await handle(route, handler, {
                ...(parsed as HandlerRequest<Route>),
                identity,
                signal: context.req.raw.signal,
                context,
                forward: async (node) => forward(node, { context, key, parsed, ...caller }),
              }),
            );
    } catch (error) {
      response = fail(limitFailures(context, error), context);
    }
    const { method, path } = splitKey(key);
    const seconds = (performance.now() - startedAt) / 1000;
    // Only sent to authenticated clients, because the time could help an attacker to guess a token.
    if (identity !== ANONYMOUS)
      response.headers.set("server-timing", `app;dur=${(seconds * 1000).toFixed(1)}`);
    services.metrics.requests.inc({ method, route: path, status: response.status });
    services.metrics.requestSeconds.observe({ method, route: path }, seconds);
    services.logger.debug(
      { method, route: path, status: response.status, token: identity.id, ms: Math.round(seconds * 1000) },
      "request",
    );
    // hono omits the body of a response to HEAD but does not end it, so a stream would continue without a reader.
    if (context.req.raw.method === "HEAD") await response.body?.cancel();
    return response;
  }

  /** Handles a request on the session's machine if the route needs it. */
  async function handle(
    { machine }: Route,
    handler: (request: HandlerRequest<Route>) => Promise<unknown>,
    request: HandlerRequest<Route>,
  ): Promise<unknown> {
    if (machine === undefined) return handler(request);
    const { sessionId } = request.params as unknown as { sessionId: string };
    const session = await services.database.sessions.get(sessionId);
    // The handler rejects the request with the right problem.
    if (!session || session.phase === "deleted") return handler(request);
    const location = await locateSession(session, services);
    if (location.where === "node") return request.forward(location.node);
    if (location.where === "away" && machine === "required")
      throw machineAway(location.name, services.database.store.kind);
    return handler(request);
  }

  async function forward(
    node: FleetNode,
    {
      context,
      key,
      parsed: { body, query },
      identity,
      isForwarded,
    }: Caller & { context: Context; key: string; parsed: { body: unknown; query: unknown } },
  ): Promise<Response> {
    if (isForwarded) throw nodeUnavailable(node.name, "The session has just moved to this node.");
    const { wait: waitMs = 0 } = (query ?? {}) as { wait?: number };
    const call = { context, key, identity, body, waitMs };
    const upgrade = upgradeOf(context);
    if (!upgrade) return proxy.forward(node, call);
    upgrade.remote = { node, target: await proxy.target(node, call), proxy };
    // This response is never sent: the connection becomes a WebSocket.
    return new Response(null, { status: 204 });
  }

  function fail(error: unknown, context: Context): Response {
    const { problem, isExpected } = toProblem(error);
    // A client that disconnects during its request is not a defect.
    if (!isExpected && !context.req.raw.signal.aborted)
      services.logger.error({ err: error }, "request failed");
    const retryAfter = problem["retryAfter"];
    return problemResponse(problem, {
      ...(typeof retryAfter === "number" && { "retry-after": String(retryAfter) }),
      ...(problem.status === 401 && { "www-authenticate": "Bearer" }),
    });
  }
  return app;
}

/** The page is public. It contains no data, and its requests need a token. */
function addStaticFiles(app: Hono, files: StaticFiles): void {
  const redirect = (context: Context): Response => {
    const { search } = new URL(context.req.url);
    return context.body(null, 302, { location: STATIC_PREFIX + search, "cache-control": "no-store" });
  };
  // The pattern of the files also matches this path, so this route comes first.
  app.get(STATIC_PREFIX.slice(0, -1), redirect);
  app.get("/", redirect);
  app.all(`${STATIC_PREFIX}*`, async (context) =>
    files.respond(context.req.raw, new URL(context.req.url).pathname.slice(STATIC_PREFIX.length)),
  );
}

function toResponse(context: Context, route: Route, result: unknown): Response {
  if (result instanceof Response) return result;
  if (route.status === 101 || route.status === 204) return context.body(null, 204);
  return context.json(result as object, route.status, { "cache-control": "no-store" });
}

/**
 * Returns a function that identifies the sender of a request, after all checks that don't depend on the request's
 * content.
 */
function createGuard({ limits, auth, database, runner }: HttpServices, forwardTokens: ForwardTokens) {
  const requests = new RateLimiter({ perSecond: limits.requestsPerSecond, burst: limits.requestBurst });
  return async (context: Context, key: string, route: Route): Promise<Caller> => {
    if (route.scope === null) {
      // Per route, so that failed logins behind a proxy don't make the health checks fail.
      limitRate(requests, `${key} ${remoteAddress(context)}`);
      return { identity: ANONYMOUS, isForwarded: false };
    }
    const forwarded = context.req.header(FORWARD_HEADER);
    const identity =
      forwarded === undefined
        ? await authenticate(context, { auth, tokens: database.tokens })
        : await verifyForwarded(forwarded, describeRequest(context, key));
    limitRate(requests, identity.id);
    requireScope(identity, route.scope);
    return { identity, isForwarded: forwarded !== undefined };
  };

  async function verifyForwarded(token: string, request: ForwardedRequest): Promise<Identity> {
    const { nodeId } = runner.status;
    const identity = nodeId === null ? undefined : await forwardTokens.verify(token, request, nodeId);
    if (identity) return identity;
    throw new DaemonError("unauthorized", "The forwarded request was not sent by a node of this fleet.");
  }
}

interface Caller {
  readonly identity: Identity;
  /** Whether another node forwarded the request on behalf of its client. */
  readonly isForwarded: boolean;
}

/**
 * Limits requests with an invalid token per address. Requests with a valid token are not affected. Otherwise, other
 * clients behind the same address, such as that of a proxy, could lock out the token's owner.
 */
function createFailureLimit({ limits }: HttpServices) {
  const failures = new RateLimiter({
    perSecond: limits.failedLoginsPerMinute / 60,
    burst: limits.failedLoginsPerMinute,
  });
  return (context: Context, error: unknown): unknown => {
    if (!DaemonError.is(error) || error.code !== "unauthorized") return error;
    const retryAfter = failures.tryAcquire(remoteAddress(context));
    return retryAfter === 0 ? error : rateLimited(retryAfter);
  };
}

/** Anyone can open many connections and send a body on each, so bodies without a token are much smaller. */
function maxBodyBytes({ scope }: Route, { bodyBytes, publicBodyBytes }: HttpLimits): number {
  return scope === null ? Math.min(bodyBytes, publicBodyBytes) : bodyBytes;
}

/** Whether a route changes state of the daemon. Logging in only changes a cookie of the browser. */
function isMutation(key: string, { scope }: Route): boolean {
  return splitKey(key).method !== "GET" && scope !== null && scope !== "read";
}

function limitRate(limiter: RateLimiter, key: string): void {
  const retryAfter = limiter.tryAcquire(key);
  if (retryAfter > 0) throw rateLimited(retryAfter);
}

function rateLimited(retryAfter: number): DaemonError {
  return new DaemonError("rate_limited", `Too many requests. Try again in ${retryAfter} s.`, {
    details: { retryAfter },
  });
}

function remoteAddress(context: Context): string {
  try {
    return getConnInfo(context).remote.address ?? "unknown";
  } catch {
    // The app is mounted in a server that is not Node's, so no socket is available.
    return "unknown";
  }
}
