import { z } from "zod";
import { plainText, tenantName, timestamp } from "./parameters.ts";
import { SCOPES } from "./route.ts";

export const scope = z.enum(SCOPES).meta({
  id: "Scope",
  description:
    "read: everything except tokens and the audit log. write: commands. approve: answers in the inbox. admin: tokens, tenants, nodes, audit log and diagnostics.",
});

export const createToken = z
  .strictObject({
    name: plainText(128),
    scopes: z.array(scope).min(1).max(SCOPES.length),
    expiresAt: timestamp.positive().optional(),
    tenant: tenantName.optional().meta({
      description: "Tenant of the sessions that are created with the token. Default: `default`.",
    }),
  })
  .meta({ id: "CreateToken" });

export const tokenInfo = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(scope),
    createdAt: timestamp,
    expiresAt: timestamp.nullable(),
    revokedAt: timestamp.nullable(),
    lastUsedAt: timestamp.nullable(),
    parentId: z.string().nullable().meta({
      description:
        "For the login of a browser: ID of the token that it logged in with. The login ends with that token.",
    }),
    tenant: z.string(),
  })
  .meta({ id: "Token" });
export type Token = z.infer<typeof tokenInfo>;

export const createdToken = z
  .object({ token: z.string().meta({ description: "The token. Only returned here." }), info: tokenInfo })
  .meta({ id: "CreatedToken" });

export const identity = z
  .object({ id: z.string(), name: z.string(), scopes: z.array(scope), tenant: z.string() })
  .meta({ id: "Identity", description: "The token of this request." });
export type Identity = z.infer<typeof identity>;

export const login = z
  .union([
    z.strictObject({ token: z.string().min(1).max(512), device: plainText(64).optional() }),
    z.strictObject({ code: z.string().min(1).max(512), device: plainText(64).optional() }),
  ])
  .meta({
    id: "Login",
    description: "`device` is a name for the browser, shown in lists and answers.",
  });

export const createLoginCode = z
  .strictObject({
    scopes: z.array(scope).min(1).max(SCOPES.length).optional().meta({
      description:
        "Scopes of the login. Default: the scopes of the request's token. The token must have all of them.",
    }),
    expiresInMs: z.int().min(1000).max(3_600_000).default(600_000),
  })
  .meta({ id: "CreateLoginCode" });

export const loginCode = z
  .object({
    code: z.string().meta({ description: "Only returned here. Can be used once." }),
    expiresAt: timestamp,
    scopes: z.array(scope),
  })
  .meta({ id: "LoginCode" });
export type LoginCode = z.infer<typeof loginCode>;

export const auditEntry = z
  .object({
    id: z.string(),
    at: timestamp,
    by: z.string(),
    action: z.string(),
    sessionId: z.string().nullable(),
    subject: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "AuditEntry" });
