import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { inboxAnswer } from "./approval.ts";
import { message } from "./command.ts";
import { createOpenApiDocument } from "./openapi.ts";
import { PROBLEMS } from "./problem.ts";
import { routes } from "./routes/index.ts";
import { createSession } from "./settings.ts";

const document = createOpenApiDocument(routes, "1.2.3");

test("is a valid OpenAPI 3.1 document", async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("has every route once, with a unique operation ID", () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({
      key: `${method.toUpperCase()} ${path}`,
      operationId,
    })),
  );
  expect(operations.map(({ key }) => key).toSorted()).toEqual(Object.keys(routes).toSorted());
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
});

test("resolves every reference", () => {
  const text = JSON.stringify(document);
  const schemas = Object.keys((document["components"] as { schemas: object }).schemas);
  const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference);
  expect(references.length).toBeGreaterThan(50);
  for (const reference of references) {
    expect(schemas).toContain(reference?.replace("#/components/schemas/", ""));
  }
});

test("rejects unknown fields of requests, and leaves responses open for new fields", () => {
  const { schemas } = document["components"] as {
    schemas: Record<string, { additionalProperties?: boolean }>;
  };
  expect(schemas["CreateSession"]?.additionalProperties).toBe(false);
  expect(schemas["Session"]?.additionalProperties).toBeUndefined();
});

test("describes parameters by their types", () => {
  const operation = document.paths["/sessions/{sessionId}/events"]?.["get"];
  const parameters = operation?.["parameters"] as { name: string }[];
  expect(parameters.find(({ name }) => name === "sessionId")).toMatchObject({ in: "path", required: true });
  expect(parameters.find(({ name }) => name === "after")).toMatchObject({
    in: "query",
    required: false,
    schema: { type: "integer", minimum: 0 },
  });
  expect(parameters.find(({ name }) => name === "Last-Event-ID")).toMatchObject({ in: "header" });
});

test("describes every parameter, and every example fits its schema", () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const parameters = operations.flatMap((operation) => operation["parameters"] as Record<string, unknown>[]);
  expect(parameters.filter(({ description }) => description === undefined)).toEqual([]);
  for (const schema of [createSession, message, inboxAnswer]) {
    const examples = (schema.meta()?.["examples"] ?? []) as readonly unknown[];
    expect(examples).not.toEqual([]);
    for (const example of examples) schema.parse(example);
  }
});

test("lists only statuses of known problems", () => {
  const known = new Set<string>(Object.values(PROBLEMS).map(String));
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const statuses = operations.flatMap(({ responses }) => Object.keys(responses as object));
  const errors = [...new Set(statuses)].filter((status) => Number(status) >= 400);
  expect(errors).toContain("401");
  for (const status of errors) expect(known).toContain(status);
});
