import { z } from "zod";
import { plainText, tenantName, timestamp } from "./parameters.ts";
import { SCOPES } from "./route.ts";

export const scope = z.enum(SCOPES).meta({
  id: "Scope",
  description:
    "read: everything but tokens and the audit trail. write: commands. approve: answers in the inbox. admin: tokens, tenants, nodes, audit trail, diagnostics.",
});

export const createToken = z
  .strictObject({
    name: plainText(128),
    scopes: z.array(scope).min(1).max(SCOPES.length),
    expiresAt: timestamp.positive().optional(),
    tenant: tenantName.optional().meta({
      description: "Owns the sessions that are created with the token. Default: `default`.",
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
    parentId: z
      .string()
      .nullable()
      .meta({ description: "Of a browser's login: the token that it logged in with, whose end is its own." }),
    tenant: z.string(),
  })
  .meta({ id: "Token" });
export type Token = z.infer<typeof tokenInfo>;

export const createdToken = z
  .object({ token: z.string().meta({ description: "Shown only here." }), info: tokenInfo })
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
    description: "`device` is a name for the browser, such as its kind, which lists and answers show.",
  });

export const createLoginCode = z
  .strictObject({
    scopes: z.array(scope).min(1).max(SCOPES.length).optional().meta({
      description:
        "Scopes of the login. Default: those of the token of this request, which has to have all of them.",
    }),
    expiresInMs: z.int().min(1000).max(3_600_000).default(600_000),
  })
  .meta({ id: "CreateLoginCode" });

export const loginCode = z
  .object({
    code: z.string().meta({ description: "Shown only here, and usable once." }),
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
