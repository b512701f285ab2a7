import { collectBody } from "@codexkit/rpc/async";
import type { z } from "zod";
import { RegistryProblem } from "./registry-problem.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads and parses the JSON of a request. */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
  maxBytes: number,
): Promise<z.infer<Schema>> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new RegistryProblem("unsupported_media_type", "Expected a body of the type application/json.");
  }
  return parseValue(schema, parseJson(await readBytes(request, maxBytes)));
}

/** Problems name the member and what was expected, but never the value, which may be a secret. */
export function parseValue<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  name = "",
): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join(".") ?? "";
  const where = path === "" ? name : `"${path}"`;
  // The names of unknown members come from the request.
  const reason = issue?.code === "unrecognized_keys" ? "Unknown member." : (issue?.message ?? "");
  throw new RegistryProblem(
    "invalid_request",
    `The request is invalid${where === "" ? "" : ` at ${where}`}. ${reason}`,
  );
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes)) as unknown;
  } catch {
    // The parser's message quotes the text.
    throw new RegistryProblem("invalid_request", "The body is not valid JSON.");
  }
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const bytes = await collectBody(request, maxBytes);
  if (bytes) return bytes;
  throw new RegistryProblem("body_too_large", `The body is larger than ${maxBytes} bytes.`);
}
