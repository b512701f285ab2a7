import fc from "fast-check";
import { expect, test } from "vitest";
import { readIncoming } from "./incoming.ts";

const read = (text: string) => readIncoming(Buffer.from(text));

test("any JSON value as params comes out as it went in", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (params) => {
      // Through JSON once: -0 is 0 there.
      const text = JSON.stringify({ id: 1, method: "m", params });
      expect(read(text)).toEqual({
        kind: "request",
        id: "1",
        method: "m",
        params: (JSON.parse(text) as { params: unknown }).params,
      });
    }),
  );
});

test("large base64 is lifted out, and comes decoded", () => {
  const bytes = Buffer.alloc(200_000, "abc");
  const dataBase64 = bytes.toString("base64");
  const message = read(
    JSON.stringify({
      id: 1,
      method: "fs/writeFile",
      params: { path: "file:///é", dataBase64, followSymlinks: true },
    }),
  );
  expect(message).toMatchObject({ kind: "request", params: { path: "file:///é", followSymlinks: true } });
  expect((message as { params: { dataBase64: Buffer } }).params.dataBase64.equals(bytes)).toBe(true);
});

test("large base64 elsewhere, escaped or wrong is not mistaken for it", () => {
  const text = Buffer.alloc(200_000, 255).toString("base64");
  const nested = read(JSON.stringify({ id: 1, method: "m", params: { a: { dataBase64: text } } }));
  expect(nested).toMatchObject({ params: { a: { dataBase64: text } } });
  const inText = read(
    JSON.stringify({ id: 1, method: "m", params: { note: '"dataBase64":"', dataBase64: text } }),
  );
  expect(inText).toMatchObject({ kind: "request", params: { note: '"dataBase64":"' } });
  const escaped = read(
    `{"id":1,"method":"m","params":{"dataBase64":"${text.replaceAll("/", String.raw`\/`)}"}}`,
  );
  expect(escaped).toMatchObject({ params: { dataBase64: text } });
  const wrong = read(`{"id":1,"method":"m","params":{"dataBase64":"${text.slice(0, -1)}!"}}`);
  expect((wrong as { params: { dataBase64: string } }).params.dataBase64).toBe("!");
  const doubled = read(`{"id":1,"method":"m","params":{"dataBase64":"${text}","dataBase64":"x"}}`);
  expect(doubled.kind).toBe("malformed");
});

test("keys that only look equal are not duplicates", () => {
  expect(
    read('{"id":1,"method":"m","params":{"a":{"a":[{"a":":"},{"a":1}]},"b\\"":1,"b":2,"__proto__":3}}').kind,
  ).toBe("request");
});
