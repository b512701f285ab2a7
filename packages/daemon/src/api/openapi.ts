import { z } from "zod";
import { problem, type ProblemType, PROBLEMS } from "./problem.ts";
import { type Route, type RouteTable, SCOPES, splitKey } from "./route.ts";

type Json = Record<string, unknown>;

/** Problems of every route that requires a token, and of every route with input. */
const COMMON: readonly ProblemType[] = [
  "bad_request",
  "host_not_allowed",
  "origin_not_allowed",
  "rate_limited",
  "internal",
  "store_unavailable",
];
const WITH_TOKEN: readonly ProblemType[] = ["unauthorized", "forbidden"];
const WITH_BODY: readonly ProblemType[] = ["invalid_json", "body_too_large", "unsupported_media_type"];

export interface OpenApiDocument extends Json {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Json>>;
}

/** Creates the OpenAPI 3.1 document of a route table. */
export function createOpenApiDocument(routes: RouteTable, version: string): OpenApiDocument {
  const components = new Components();
  const paths: Record<string, Record<string, Json>> = {};
  for (const [key, route] of Object.entries(routes)) {
    const { method, path } = splitKey(key);
    (paths[path] ??= {})[method.toLowerCase()] = describeOperation(key, route, components);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "codexkit daemon",
      version,
      description: "Codex sessions over HTTP. Errors are problem+json (RFC 9457).",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, { cookie: [] }],
    paths,
    components: {
      schemas: components.schemas,
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: `A token of the daemon. Scopes: ${SCOPES.join(", ")}.`,
        },
        cookie: { type: "apiKey", in: "cookie", name: "codexkit_token" },
      },
    },
  };
}

function describeOperation(key: string, route: Route, components: Components): Json {
  return {
    operationId: operationId(key),
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    tags: [route.tag],
    "x-scope": route.scope,
    security: route.scope === null ? [] : [{ bearer: [] }, { cookie: [] }],
    parameters: [
      ...parameters("path", route.params, components),
      ...parameters("query", route.query, components),
      ...headerParameters(route.requestHeaders),
      ...(route.idempotencyKey ? [IDEMPOTENCY_KEY] : []),
      ...(route.stream ? [LAST_EVENT_ID] : []),
    ],
    ...(route.body && {
      requestBody: {
        required: !route.body.safeParse({}).success,
        content: { "application/json": { schema: components.toJson(route.body) } },
      },
    }),
    ...(route.bytes && {
      requestBody: { required: true, content: { "application/octet-stream": { schema: {} } } },
    }),
    responses: {
      [route.status]: successResponse(route, components),
      ...otherResponses(route),
      ...problemResponses(route, components),
    },
  };
}

function headerParameters(headers: Readonly<Record<string, string>> = {}): Json[] {
  return Object.entries(headers).map(([name, description]) => ({
    name,
    in: "header",
    description,
    schema: { type: "string", maxLength: 8192 },
  }));
}

function otherResponses({ otherStatuses = {} }: Route): Json {
  return Object.fromEntries(
    Object.entries(otherStatuses).map(([status, description]) => [status, { description }]),
  );
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A request is carried out once per key. A repetition with the same key returns the first command. The same key with a different request is rejected with `key_reused`.",
  schema: { type: "string", minLength: 1, maxLength: 256, pattern: "^[\\x21-\\x7e]+$" },
};

const LAST_EVENT_ID = {
  name: "Last-Event-ID",
  in: "header",
  description: "ID of the last message that the client has received.",
  schema: { type: "string", maxLength: 8192 },
};

function successResponse(route: Route, components: Components): Json {
  const content = {
    ...(route.response && { "application/json": { schema: components.toJson(route.response) } }),
    ...(route.stream && {
      "text/event-stream": { schema: { type: "string" }, "x-message-data": components.toJson(route.stream) },
    }),
    ...(route.contentType !== undefined &&
      !route.stream && { [route.contentType]: { schema: { type: "string" } } }),
  };
  if (route.socket) {
    return {
      description: "A WebSocket.",
      "x-messages": {
        sends: components.toJson(route.socket.sends),
        receives: components.toJson(route.socket.receives),
      },
    };
  }
  return {
    description: route.status === 204 ? "Done." : "Success.",
    ...(route.responseHeaders && { headers: route.responseHeaders }),
    ...(Object.keys(content).length > 0 && { content }),
  };
}

function problemResponses(route: Route, components: Components): Json {
  const types = new Set([
    ...COMMON,
    ...(route.scope === null ? [] : WITH_TOKEN),
    ...(route.body ? WITH_BODY : []),
    ...(route.machine ? (["node_unavailable"] as const) : []),
    ...(route.problems ?? []),
  ]);
  const byStatus = Map.groupBy(types, (type) => PROBLEMS[type]);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      {
        description: `Problem: ${list.join(", ")}.`,
        content: { "application/problem+json": { schema: components.toJson(problem) } },
      },
    ]),
  );
}

function parameters(
  place: "path" | "query",
  schema: z.ZodObject | undefined,
  components: Components,
): Json[] {
  if (!schema) return [];
  const { properties, required } = components.toJson(schema) as {
    properties: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description = DESCRIPTIONS[name], ...rest }]) => ({
    name,
    in: place,
    required: required?.includes(name) ?? false,
    ...(description !== undefined && { description }),
    schema: rest,
  }));
}

/** Parameters with the same meaning in every operation. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  sessionId: "ID of the session.",
  commandId: "ID of the command, from the response that accepted it.",
  itemId: "ID of the item, from the events or the list of items.",
  turnId: "Only items of this turn.",
  approvalId: "ID of the approval or question, from the inbox or from `inbox.opened`.",
  nodeId: "ID of the node, from the list of nodes.",
  tenantId: "Name of the tenant.",
  tokenId: "ID of the token. This is not the token itself.",
  webhookId: "ID of the webhook.",
  deliveryId: "ID of the delivery.",
  imageId: "ID of the uploaded image.",
  terminalId: "ID of the terminal.",
  threadId: "ID of the thread, from the list of threads.",
  phase: "Only sessions in this phase.",
  cursor: "`next` of the previous page.",
  limit: "Maximum entries per page.",
  query: "Text to search for.",
  name: "Name of the session.",
};

/** `GET /sessions/{sessionId}/items` → `getSessionsBySessionIdItems`. */
function operationId(key: string): string {
  const { method, path } = splitKey(key);
  const words = path
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => `by-${name}`)
    .split(/[/\-.]/)
    .filter(Boolean);
  return method.toLowerCase() + words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("");
}

/** Schemas with an ID. All operations share them. */
class Components {
  readonly schemas: Record<string, Json> = {};

  toJson(schema: z.ZodType): Json {
    // As a property, a schema with an ID becomes a reference. The mode `input` allows further fields in responses.
    const { properties, $defs = {} } = z.toJSONSchema(z.object({ schema }), { io: "input" }) as unknown as {
      properties: { schema: Json };
      $defs?: Record<string, Json>;
    };
    for (const [id, definition] of Object.entries($defs)) {
      const { id: _, ...rest } = pointToComponents(definition);
      this.schemas[id] = rest;
    }
    return pointToComponents(properties.schema);
  }
}

function pointToComponents(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
}
