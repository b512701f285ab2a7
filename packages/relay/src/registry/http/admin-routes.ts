import type { Context, Hono } from "hono";
import type { RegistryTokenInfo } from "../store/token-store.ts";
import { addressOf, type HttpServices } from "./http-services.ts";
import { parseValue, readBody } from "./read-body.ts";
import { RegistryProblem } from "./registry-problem.ts";
import { newToken, tokenId } from "./schemas.ts";

/** Management of tokens, for the command line. A token of one environment manages only the tokens of that environment. */
export function addAdminRoutes(app: Hono, { store, access, audit, limits }: HttpServices): void {
  const authenticate = async (context: Context): Promise<RegistryTokenInfo> =>
    access.require(context.req.header("authorization"), addressOf(context), { scope: "admin" });

  app.get("/admin/tokens", async (context) => {
    const admin = await authenticate(context);
    const tokens = await store.tokens.list();
    return context.json({ tokens: tokens.filter((token) => mayManage(admin, token.environmentId)) });
  });

  app.post("/admin/tokens", async (context) => {
    const admin = await authenticate(context);
    const body = await readBody(context.req.raw, newToken, limits.bodyBytes);
    const environmentId = body.environmentId ?? null;
    if (!mayManage(admin, environmentId)) {
      throw new RegistryProblem("forbidden", "This token can create tokens of its own environment only.");
    }
    const created = await store.tokens.create({
      name: body.name,
      scopes: [...new Set(body.scopes)],
      environmentId: environmentId ?? undefined,
      validForMs: body.validForMs ?? undefined,
      claim: body.claim ?? undefined,
    });
    const { id, name, scopes } = created.info;
    audit.record({
      event: "token.created",
      token: admin.id,
      environment: environmentId ?? undefined,
      address: addressOf(context),
      detail: { id, name, scopes, ...body.claim },
    });
    return context.json(created, 201);
  });

  app.delete("/admin/tokens/:tokenId", async (context) => {
    const admin = await authenticate(context);
    const id = parseValue(tokenId, context.req.param("tokenId"), "the token ID");
    const token = (await store.tokens.list()).find((info) => info.id === id);
    if (!token || !mayManage(admin, token.environmentId) || !(await store.tokens.revoke(id))) {
      throw new RegistryProblem("not_found", "There is no valid token with this ID.");
    }
    audit.record({ event: "token.revoked", token: admin.id, address: addressOf(context), detail: { id } });
    return context.body(null, 204);
  });

  app.get("/admin/environments", async (context) => {
    const admin = await authenticate(context);
    const environments = await store.registrations.listEnvironments();
    return context.json({
      environments: environments.filter(({ environmentId }) => mayManage(admin, environmentId)),
    });
  });
}

function mayManage(admin: RegistryTokenInfo, environmentId: string | null): boolean {
  return admin.environmentId === null || admin.environmentId === environmentId;
}
