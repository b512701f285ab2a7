import { collectBody, messageOf } from "@codexkit/rpc/async";
import type { Context } from "hono";
import { z } from "zod";
import type { Route } from "../api/route.ts";
import { type Problem } from "../api/problem.ts";
import { DaemonError } from "../errors.ts";
import { invalidInput, quote } from "./problems.ts";

interface Parsed {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Unknown parameters are errors, even if a route has no parameters. */
const NO_PARAMETERS = z.strictObject({});
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses the parts of a request that the route declares. Returns the problem if something is invalid. */
export async function parseRequest(
  context: Context,
  route: Route,
  maxBodyBytes: number,
): Promise<Parsed | { readonly problem: Problem }> {
  const parts: Record<string, unknown> = {};
  const read: readonly [string, z.ZodType | undefined, () => unknown][] = [
    ["params", route.params, () => context.req.param()],
    ["query", route.query ?? NO_PARAMETERS, () => singleValues(context)],
    ["body", route.body, async () => readJson(context, maxBodyBytes)],
  ];
  for (const [part, schema, value] of read) {
    if (!schema) continue;
    const result = schema.safeParse(await value());
    if (!result.success) return { problem: invalidInput(part, result.error) };
    parts[part] = result.data;
  }
  return { params: parts["params"], query: parts["query"], body: parts["body"] };
}

function singleValues(context: Context): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URL(context.req.url).searchParams) {
    // zod ignores this name, because assigning it would change the prototype.
    if (name === "__proto__") throw new DaemonError("bad_request", `There is no parameter "${name}".`);
    if (values.has(name))
      throw new DaemonError("bad_request", `The parameter ${quote(name)} occurs more than once.`);
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

/** An empty body is treated as `{}`, for commands whose fields are all optional. */
async function readJson(context: Context, maxBytes: number): Promise<unknown> {
  const bytes = await readBody(context.req.raw, maxBytes);
  if (bytes.byteLength === 0) return {};
  const type = context.req.header("content-type") ?? "";
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new DaemonError("unsupported_media_type", `Expected application/json, got ${quote(type)}.`);
  }
  try {
    return JSON.parse(utf8.decode(bytes)) as unknown;
  } catch (error) {
    throw new DaemonError("invalid_json", messageOf(error), { cause: error });
  }
}

async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const bytes = await collectBody(request, maxBytes);
  if (bytes) return bytes;
  throw new DaemonError("body_too_large", `The body is larger than ${maxBytes} bytes.`, {
    details: { maxBytes },
  });
}
