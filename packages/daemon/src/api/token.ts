import { z } from "zod";
import { plainText, timestamp } from "./parameters.ts";
import { SCOPES } from "./route.ts";

export const scope = z.enum(SCOPES).meta({
  id: "Scope",
  description:
    "read: everything but tokens and the audit trail. write: commands. approve: answers in the inbox. admin: tokens, audit trail, diagnostics.",
});

export const createToken = z
  .strictObject({
    name: plainText(128),
    scopes: z.array(scope).min(1).max(SCOPES.length),
    expiresAt: timestamp.positive().optional(),
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
  })
  .meta({ id: "Token" });
export type Token = z.infer<typeof tokenInfo>;

export const createdToken = z
  .object({ token: z.string().meta({ description: "Shown only here." }), info: tokenInfo })
  .meta({ id: "CreatedToken" });

export const identity = z
  .object({ id: z.string(), name: z.string(), scopes: z.array(scope) })
  .meta({ id: "Identity", description: "The token of this request." });
export type Identity = z.infer<typeof identity>;

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
