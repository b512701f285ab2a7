import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createOpenApiDocument } from "../src/api/openapi.ts";
import { STORE_KINDS } from "@codexkit/store/testing";
import { routes } from "../src/api/routes/index.ts";
import { useDatabases } from "./database-fixture.ts";
import { startTestDaemon } from "./test-daemon.ts";

type Schema = Record<string, unknown> & {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
};

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: Schema;
}

const document = createOpenApiDocument(routes, "0");
const { schemas } = document["components"] as { schemas: Record<string, Schema> };

/** Values that often break parsers and stores. */
const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "\u0000",
    "%00",
    "../..",
    "'; drop table session; --",
    "\ud800",
    "__proto__",
    "🙂",
    "a".repeat(5000),
  ),
);

/** Mostly values that match the schema, sometimes arbitrary JSON. */
function valueOf(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary: validOf(schema, depth) }, { weight: 1, arbitrary: fc.jsonValue() });
}

function validOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined)
    return validOf(schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, depth + 1);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return fc.oneof(...options.map((option) => validOf(option, depth + 1)));
  switch (schema.type) {
    case "object": {
      const properties = Object.entries(schema.properties ?? {}).map(([name, value]) => [
        name,
        valueOf(value, depth + 1),
      ]);
      return fc.record(Object.fromEntries(properties) as Record<string, fc.Arbitrary<unknown>>, {
        requiredKeys: schema.required ?? [],
      });
    }
    case "array": {
      return fc.array(valueOf(schema.items ?? {}, depth + 1), { maxLength: 3 });
    }
    case "string": {
      return fc.oneof(hostileText, fc.string({ minLength: 1, maxLength: 20 }));
    }
    case "integer":
    case "number": {
      return fc.oneof(fc.integer({ min: 0, max: 100 }), fc.maxSafeInteger());
    }
    case "boolean": {
      return fc.boolean();
    }
    case "null": {
      return fc.constant(null);
    }
    default: {
      return fc.jsonValue();
    }
  }
}

const operations = Object.entries(document.paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  // Requests for a deleted session fail before anything else is checked.
  .filter(({ path, method }) => `${method} ${path}` !== "DELETE /sessions/{sessionId}");

interface Generated {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

function requestOf(ids: readonly string[]): fc.Arbitrary<Generated> {
  return fc.constantFrom(...operations).chain(({ path, method, operation }) => {
    const parameters = operation["parameters"] as Parameter[];
    const body = operation["requestBody"] as { content: Record<string, { schema: Schema }> } | undefined;
    const json = body?.content["application/json"];
    return fc
      .record({
        params: fc.tuple(
          ...parameters.map(({ in: place, schema }) =>
            place === "path"
              ? fc.oneof(fc.constantFrom(...ids), hostileText)
              : fc.option(valueOf(schema), { nil: undefined }),
          ),
        ),
        body: json
          ? fc.oneof(
              { weight: 9, arbitrary: valueOf(json.schema).map((value) => JSON.stringify(value)) },
              { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
            )
          : body
            ? fc.option(fc.string({ unit: "binary", maxLength: 30 }), { nil: undefined })
            : fc.constant(undefined),
      })
      .map((generated): Generated => {
        const query = new URLSearchParams();
        const headers: Record<string, string> = {};
        let filled = path;
        for (const [index, { name, in: place }] of parameters.entries()) {
          const value = generated.params[index];
          if (value === undefined) continue;
          const text = typeof value === "string" ? value : JSON.stringify(value);
          if (place === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(text.toWellFormed()));
          else if (place === "query") query.set(name, text);
          // A header can't contain other characters.
          else if (/^[\x21-\x7e]+$/.test(text)) headers[name] = text;
        }
        // Waiting for commands would slow the test down without testing more.
        query.delete("wait");
        return { method, url: `${filled}?${query.toString()}`, headers, body: generated.body };
      });
  });
}

describe.each(STORE_KINDS)("requests generated from the document on %s", (kind) => {
  const databases = useDatabases(kind);

  test("never cause a 500, and every error is a problem", async () => {
    await using api = await startTestDaemon(await databases.open(), {
      limits: { requestsPerSecond: 1e6, requestBurst: 1e6, failedLoginsPerMinute: 1e6, sessions: 1e6 },
    });
    const created = await api.request("POST /sessions?wait=10000", { json: { cwd: api.root } });
    const { session } = (await created.json()) as { session: { id: string } };
    await fc.assert(
      fc.asyncProperty(requestOf([session.id, "some-id"]), async ({ method, url, headers, body }) => {
        const response = await api.request(`${method} ${url}`, {
          headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
          ...(body !== undefined && { body }),
        });
        const type = response.headers.get("content-type");
        await response.body?.cancel();
        // The log has the cause of a 500.
        if (response.status === 500) throw new Error(api.logs.findLast((line) => line.includes("failed")));
        expect(response.status < 400 || type === "application/problem+json").toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});
