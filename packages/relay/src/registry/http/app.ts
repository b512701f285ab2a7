import { StoreError } from "@codexkit/store";
import { Hono } from "hono";
import { RelayError } from "../../errors.ts";
import { addAdminRoutes } from "./admin-routes.ts";
import { addEnvironmentRoutes } from "./environment-routes.ts";
import { addressOf, type HttpServices } from "./http-services.ts";
import { problemBody, RegistryProblem } from "./registry-problem.ts";
import { environmentId } from "./schemas.ts";

/** The HTTP API. WebSockets are upgraded elsewhere. */
export function createApp(services: HttpServices): Hono {
  const { store, metrics, access, isClosing } = services;
  const app = new Hono();
  app.use(async (context, next) => {
    // The registry has no browser clients, so requests of web pages are refused.
    if (context.req.header("origin") !== undefined) {
      throw new RegistryProblem("forbidden", "Requests of web pages are refused.");
    }
    await next();
    context.header("cache-control", "no-store");
  });
  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/readyz", async (context) => {
    if (isClosing()) throw new RegistryProblem("unavailable", "The registry is shutting down.");
    await store.store.check();
    return context.json({ status: "ready" });
  });
  app.get("/metrics", async (context) => {
    await access.require(context.req.header("authorization"), addressOf(context), { scope: "metrics" });
    return context.text(await metrics.registry.metrics(), 200, {
      "content-type": metrics.registry.contentType,
    });
  });
  addEnvironmentRoutes(app, services);
  addAdminRoutes(app, services);
  app.notFound(() => toResponse(new RegistryProblem("not_found", "There is nothing at this path.")));
  app.onError((error, context) => {
    const problem = toProblem(error);
    metrics.counters.refuse(problem.code);
    services.audit.recordRefusal({
      // Contains no text of the request: it may be long, or a misplaced secret.
      environment: environmentId.safeParse(context.req.param("environmentId")).data,
      address: addressOf(context),
      reason: problem.code,
      detail: { method: context.req.method, route: context.req.routePath },
    });
    if (problem.code === "internal") services.logger.error({ err: error }, "request failed");
    return toResponse(problem);
  });
  return app;
}

function toProblem(error: unknown): RegistryProblem {
  if (error instanceof RegistryProblem) return error;
  if (RelayError.is(error) && error.code === "replaced")
    return new RegistryProblem("replaced", error.message);
  if (StoreError.is(error))
    return new RegistryProblem("unavailable", "The store can't be reached. Try again later.");
  return new RegistryProblem("internal", "The request failed.");
}

function toResponse(problem: RegistryProblem): Response {
  return new Response(problemBody(problem), {
    status: problem.status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(problem.status === 401 && { "www-authenticate": "Bearer" }),
    },
  });
}
