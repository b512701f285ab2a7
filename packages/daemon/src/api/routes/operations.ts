import { z } from "zod";
import { account, credentialStatus, model } from "../account.ts";
import { page } from "../history.ts";
import { diagnostics, health, readiness } from "../operations.ts";
import { cursor, identifier, pageLimit } from "../parameters.ts";
import type { Route } from "../route.ts";
import { auditEntry, createdToken, createToken, identity, tokenInfo } from "../token.ts";

export const operationRoutes = {
  "GET /models": {
    summary: "List the models that Codex offers",
    tag: "account",
    scope: "read",
    status: 200,
    response: z.object({ data: z.array(model).readonly() }).meta({ id: "ModelList" }),
    problems: ["codex_failed", "draining"],
  },
  "GET /account": {
    summary: "Read the account that Codex is logged in with",
    tag: "account",
    scope: "read",
    status: 200,
    response: account,
    problems: ["codex_failed", "draining"],
  },
  "GET /credentials": {
    summary: "Read where Codex's credentials come from",
    tag: "account",
    scope: "read",
    status: 200,
    response: credentialStatus,
  },
  "POST /login": {
    summary: "Exchange a token for a cookie",
    description: "For browsers: the cookie is `HttpOnly` and `SameSite=Strict`.",
    tag: "tokens",
    scope: null,
    body: z.strictObject({ token: z.string().min(1).max(512) }).meta({ id: "Login" }),
    status: 200,
    response: identity,
    problems: ["unauthorized"],
  },
  "POST /logout": {
    summary: "Remove the cookie",
    tag: "tokens",
    scope: null,
    status: 204,
  },
  "GET /whoami": {
    summary: "Read the name and scopes of the token of this request",
    tag: "tokens",
    scope: "read",
    status: 200,
    response: identity,
  },
  "GET /tokens": {
    summary: "List tokens",
    tag: "tokens",
    scope: "admin",
    status: 200,
    response: z.object({ data: z.array(tokenInfo) }).meta({ id: "TokenList" }),
  },
  "POST /tokens": {
    summary: "Create a token. It is shown only in this response.",
    tag: "tokens",
    scope: "admin",
    body: createToken,
    status: 201,
    response: createdToken,
    problems: ["store_full"],
  },
  "DELETE /tokens/{tokenId}": {
    summary: "Revoke a token",
    tag: "tokens",
    scope: "admin",
    params: z.strictObject({ tokenId: identifier }),
    status: 204,
    problems: ["not_found"],
  },
  "GET /audit": {
    summary: "Read who did what, newest first",
    tag: "tokens",
    scope: "admin",
    query: z.strictObject({ cursor: cursor.optional(), limit: pageLimit }),
    status: 200,
    response: page("AuditPage", auditEntry),
    problems: ["invalid_cursor"],
  },
  "GET /health": {
    summary: "Whether the process answers",
    tag: "operations",
    scope: null,
    status: 200,
    response: health,
  },
  "GET /ready": {
    summary: "Whether the daemon takes commands",
    description: "If it does not: 503 with the problem `draining` or `store_unavailable`.",
    tag: "operations",
    scope: null,
    status: 200,
    response: readiness,
    problems: ["draining"],
  },
  "GET /metrics": {
    summary: "Metrics in the Prometheus text format",
    tag: "operations",
    scope: "read",
    status: 200,
    contentType: "text/plain",
  },
  "GET /diagnostics": {
    summary: "Versions, processes and limits, without secrets",
    tag: "operations",
    scope: "admin",
    status: 200,
    response: diagnostics,
  },
  "GET /openapi.json": {
    summary: "This document",
    tag: "operations",
    scope: null,
    status: 200,
    response: z.record(z.string(), z.unknown()),
  },
} as const satisfies Record<string, Route>;
