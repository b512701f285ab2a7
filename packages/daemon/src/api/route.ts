import type { z } from "zod";
import type { ProblemType } from "./problem.ts";

/** Permissions of a token. A route requires one scope, and no scope includes another. */
export const SCOPES = ["read", "write", "approve", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

type ObjectSchema = z.ZodObject;

/**
 * One operation of the API. The hono app, the OpenAPI document and the client's types are derived from the routes, so
 * that they are always consistent.
 */
export interface Route {
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Null: no token is required. */
  readonly scope: Scope | null;
  readonly params?: ObjectSchema;
  readonly query?: ObjectSchema;
  readonly body?: z.ZodType | undefined;
  /** The body is not JSON. The handler reads it. */
  readonly bytes?: true;
  /** Headers that the handler reads, with their descriptions. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** Whether the route supports an `Idempotency-Key` header. */
  readonly idempotencyKey?: true;
  /**
   * Whether the request needs the machine of the session, so that other nodes forward it there. preferred: the
   * receiving node handles the request if the session's node is not running.
   */
  readonly machine?: "required" | "preferred";
  readonly status: 101 | 200 | 201 | 202 | 204;
  /** Schema of the JSON response. Undefined if the response has no body. */
  readonly response?: z.ZodType;
  /** Schema of each message's `data`, if the route also offers `text/event-stream`. */
  readonly stream?: z.ZodType;
  /** Schemas of the text messages, if the route is a WebSocket. */
  readonly socket?: { readonly sends: z.ZodType; readonly receives: z.ZodType };
  /** Content type of a response that is not JSON. */
  readonly contentType?: string;
  readonly responseHeaders?: Readonly<Record<string, object>>;
  /** Other statuses that are not problems, with their descriptions. */
  readonly otherStatuses?: Readonly<Record<number, string>>;
  /** Problems of this route, in addition to those that every route can have. */
  readonly problems?: readonly ProblemType[];
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** For example, `GET /sessions/{sessionId}`. */
export type RouteKey = `${Method} /${string}`;

export type RouteTable = Readonly<Record<RouteKey, Route>>;

export function splitKey(key: string): { method: Method; path: string } {
  const [method, path] = key.split(" ", 2);
  return { method: method as Method, path: path ?? "/" };
}

/** Fills the parameters into a path such as `/sessions/{sessionId}`. */
export function fillPath(path: string, params: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;

/** The parsed request that a handler receives. */
export interface ParsedRequest<R extends Route> {
  readonly params: Output<R["params"]>;
  readonly query: Output<R["query"]>;
  readonly body: Output<R["body"]>;
}

/** The value that a handler returns. */
export type RouteResponse<R extends Route> = R["response"] extends z.ZodType
  ? z.output<R["response"]>
  : R["contentType"] extends "text/plain"
    ? string
    : undefined;

type Part<Name extends string, Value> = [Value] extends [undefined]
  ? { readonly [N in Name]?: undefined }
  : {} extends Value
    ? { readonly [N in Name]?: Value }
    : { readonly [N in Name]: Value };

/** The arguments that a client passes to a route. */
export type RouteArguments<R extends Route> = Part<"params", Input<R["params"]>> &
  Part<"query", Input<R["query"]>> &
  Part<"body", Input<R["body"]>> & { readonly idempotencyKey?: string };
