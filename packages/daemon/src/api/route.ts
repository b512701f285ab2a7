import type { z } from "zod";
import type { ProblemType } from "./problem.ts";

/** What a token may do. A route needs one of them; none includes another. */
export const SCOPES = ["read", "write", "approve", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

type ObjectSchema = z.ZodObject;

/**
 * One operation of the API. The hono app, the OpenAPI document and the client's types are made from these, so that they
 * can't differ.
 */
export interface Route {
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Null: no token needed. */
  readonly scope: Scope | null;
  readonly params?: ObjectSchema;
  readonly query?: ObjectSchema;
  readonly body?: z.ZodType | undefined;
  /** The body is not JSON. The handler reads it. */
  readonly bytes?: true;
  /** Headers that the handler reads, with their descriptions. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** Whether it takes an `Idempotency-Key` header. */
  readonly idempotencyKey?: true;
  /**
   * Needs the machine of the session, so that other nodes forward it there. preferred: they answer it themselves if that one does
   * not run.
   */
  readonly machine?: "required" | "preferred";
  readonly status: 101 | 200 | 201 | 202 | 204;
  /** JSON response. Undefined: an empty one. */
  readonly response?: z.ZodType;
  /** Also served as `text/event-stream` to clients that accept it: the schema of `data` of each message. */
  readonly stream?: z.ZodType;
  /** A WebSocket: the schemas of its text messages. */
  readonly socket?: { readonly sends: z.ZodType; readonly receives: z.ZodType };
  /** A response that is not JSON. */
  readonly contentType?: string;
  readonly responseHeaders?: Readonly<Record<string, object>>;
  /** Other responses that are no problems, with their descriptions. */
  readonly otherStatuses?: Readonly<Record<number, string>>;
  /** Problems of this route, besides those that every route can have. */
  readonly problems?: readonly ProblemType[];
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Such as `GET /sessions/{sessionId}`. */
export type RouteKey = `${Method} /${string}`;

export type RouteTable = Readonly<Record<RouteKey, Route>>;

export function splitKey(key: string): { method: Method; path: string } {
  const [method, path] = key.split(" ", 2);
  return { method: method as Method, path: path ?? "/" };
}

/** `/sessions/{sessionId}` with the values of its parameters. */
export function fillPath(path: string, params: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;

/** What a handler of a route gets, parsed. */
export interface ParsedRequest<R extends Route> {
  readonly params: Output<R["params"]>;
  readonly query: Output<R["query"]>;
  readonly body: Output<R["body"]>;
}

/** What a handler of a route returns. */
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

/** What a client passes to a route. */
export type RouteArguments<R extends Route> = Part<"params", Input<R["params"]>> &
  Part<"query", Input<R["query"]>> &
  Part<"body", Input<R["body"]>> & { readonly idempotencyKey?: string };
