import type * as z from "zod";
import { CODES, Refusal } from "../wire/refusal.ts";
import type { Session } from "./session.ts";

/** Passed to the handler of a request. */
export interface CallContext {
  readonly session: Session;
  /** Aborts when the connection ends, because no client is waiting for the response then. */
  readonly signal: AbortSignal;
  /** Sends a notification on this connection. */
  readonly notify: (method: string, params: unknown) => void;
  /** Resolves when the client has received enough of what was sent. */
  readonly flowed: () => Promise<void>;
}

/** A method of the protocol: the schema of its params, its lane and its handler. */
export interface Method {
  /** Undefined if the method takes no params. `"any"` if the handler validates them. */
  readonly params: z.ZodType | "any" | undefined;
  /** Control calls never wait behind others. */
  readonly lane: "control" | "ordinary";
  run(params: never, context: CallContext): unknown;
}

export type MethodTable = ReadonlyMap<string, Method>;

/** A result with one large base64 member, kept as bytes until it is sent. Its other text must be ASCII. */
export class LargeResult {
  readonly before: string;
  readonly bytes: Buffer;
  readonly after: string;

  constructor(before: string, bytes: Buffer, after: string) {
    this.before = before;
    this.bytes = bytes;
    this.after = after;
  }
}

/** Creates a method whose code is loaded on its first call. */
export function lazyMethod(lane: Method["lane"], load: () => Promise<Method>): Method {
  return {
    params: "any",
    lane,
    run: async (params: unknown, context: CallContext) => {
      const method = await load();
      return method.run(checkedParams(method.params, params) as never, context);
    },
  };
}

/** Validates params by a method's schema. Rejects them with -32602. */
export function checkedParams(schema: Method["params"], params: unknown): unknown {
  if (schema === "any") return params;
  if (schema) {
    const parsed = schema.safeParse(params);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const where = issue && issue.path.length > 0 ? `\`${issue.path.join(".")}\`: ` : "";
    throw new Refusal(CODES.invalidParams, `${where}${issue?.message ?? "Invalid params."}`);
  }
  const isEmpty =
    params === null ||
    (typeof params === "object" && !Array.isArray(params) && Object.keys(params).length === 0);
  if (!isEmpty) throw new Refusal(CODES.invalidParams, "This method takes no params.");
  return undefined;
}
