import type { Context } from "hono";
import type { z } from "zod";
import type { Route } from "../api/route.ts";
import { type Problem } from "../api/problem.ts";
import { DaemonError } from "../errors.ts";
import { invalidInput } from "./problems.ts";

interface Parsed {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Parses what a route declares. Returns the problem if something is invalid. */
export async function parseRequest(
  context: Context,
  route: Route,
  maxBodyBytes: number,
): Promise<Parsed | { readonly problem: Problem }> {
  const parts: Record<string, unknown> = {};
  const read: readonly [string, z.ZodType | undefined, () => unknown][] = [
    ["params", route.params, () => context.req.param()],
    ["query", route.query, () => singleValues(context)],
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
  const values: Record<string, string> = {};
  for (const [name, list] of Object.entries(context.req.queries())) {
    if (list.length > 1)
      throw new DaemonError("bad_request", `The parameter "${name}" is given more than once.`);
    values[name] = list[0] ?? "";
  }
  return values;
}

/** An empty body counts as `{}`, for the commands whose fields are all optional. */
async function readJson(context: Context, maxBytes: number): Promise<unknown> {
  const text = new TextDecoder().decode(await readBody(context.req.raw, maxBytes));
  if (text === "") return {};
  const type = context.req.header("content-type") ?? "";
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new DaemonError("unsupported_media_type", `Expected application/json, got "${type}".`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new DaemonError("invalid_json", error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}

/** `Content-Length` may be missing or wrong, so that the bytes are counted as they arrive. */
async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): DaemonError =>
    new DaemonError("body_too_large", `The body is larger than ${maxBytes} bytes.`, {
      details: { maxBytes },
    });
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as ReadableStream<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
