import { describe, expect, it } from "vitest";
import { pairResults } from "./pair-results.ts";
import { readUnion } from "./read-unions.ts";
import { rewriteTypes } from "./rewrite-types.ts";

describe("readUnion", () => {
  it("parses union members with params, without params and with optional params", () => {
    const source =
      'export type ClientRequest = { "method": "a/start", id: RequestId, params: AStartParams, } | ' +
      '{ "method": "b", id: RequestId, params: undefined, } | { "method": "c", id: RequestId, params?: CParams | undefined, };';
    expect(readUnion("ClientRequest", source)).toEqual([
      { method: "a/start", params: "AStartParams" },
      { method: "b", params: undefined },
      { method: "c", params: "CParams | undefined" },
    ]);
  });

  it("reports the method whose union member it can't parse", () => {
    const source =
      'export type X = { "method": "ok", params: A } | { "method": "odd", payload: { deep: 1 } };';
    expect(() => readUnion("X", source)).toThrow("X: could not read the arm of odd");
  });

  it("rejects a file without methods", () => {
    expect(() => readUnion("X", "export type X = string;")).toThrow("no methods found");
  });
});

describe("pairResults", () => {
  const arm = { method: "a/start", params: "AStartParams" };

  it("pairs methods and results by name, even if the params are optional", () => {
    const arms = [arm, { method: "c", params: "CParams | null" }];
    expect(
      pairResults(arms, new Set(["AStartResponse", "CResponse"]), {}).map(({ result }) => result),
    ).toEqual(["AStartResponse", "CResponse"]);
  });

  it("reports methods without a result, and exceptions and results without a method", () => {
    const pair = (): unknown =>
      pairResults([arm, { method: "bare", params: undefined }], new Set(["LostResponse"]), {
        gone: "XResponse",
      });
    expect(pair).toThrow("a/start: no result type AStartResponse");
    expect(pair).toThrow("bare: no result type");
    expect(pair).toThrow("gone: listed as an exception");
    expect(pair).toThrow("LostResponse: no method has this result");
  });
});

describe("rewriteTypes", () => {
  it("replaces bigint with number and adds extensions to imports", () => {
    expect(rewriteTypes('import type { A } from "../A";\nexport type B = { n: bigint | null };')).toBe(
      'import type { A } from "../A.ts";\nexport type B = { n: number | null };',
    );
    expect(rewriteTypes('export * as v2 from "./v2";')).toBe('export * as v2 from "./v2/index.ts";');
  });
});
