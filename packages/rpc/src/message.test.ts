import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RpcError } from "./errors.ts";
import { callBody, parseMessage, RawJson, serializeValue } from "./message.ts";

function failure(run: () => unknown): RpcError {
  try {
    run();
  } catch (error) {
    if (error instanceof RpcError) return error;
    throw error;
  }
  return expect.unreachable("nothing was thrown");
}

describe("parseMessage", () => {
  it.each([
    ["a request", { id: 0, method: "m", params: {} }, "request"],
    ["a request with a string id", { id: "", method: "m" }, "request"],
    ["a request that also has a result", { id: 1, method: "m", result: 1 }, "request"],
    ["a notification", { method: "m", params: [1] }, "notification"],
    ["a response", { id: 0, result: null }, "response"],
    ["an error", { id: "x", error: { code: -1, message: "no" } }, "response"],
  ])("recognises %s", (_name, message, kind) => {
    expect(parseMessage(JSON.stringify(message)).kind).toBe(kind);
  });

  it("ignores a jsonrpc member with any value", () => {
    for (const jsonrpc of ["2.0", "1.0", null, {}]) {
      expect(parseMessage(JSON.stringify({ jsonrpc, id: 3, result: 1 }))).toEqual({
        kind: "response",
        message: { id: 3, result: 1 },
      });
    }
  });

  it("keeps members other than the params", () => {
    const { message } = parseMessage('{"method":"m","params":1,"emittedAtMs":5}');
    expect(message).toEqual({ method: "m", params: 1, emittedAtMs: 5 });
  });

  it("distinguishes the string ID 0 from the number", () => {
    expect(parseMessage('{"id":"0","method":"m"}').message).toMatchObject({ id: "0" });
    expect(parseMessage('{"id":0,"method":"m"}').message).toMatchObject({ id: 0 });
  });

  it("treats a null error next to a result as no error", () => {
    expect(parseMessage('{"id":1,"result":5,"error":null}')).toEqual({
      kind: "response",
      message: { id: 1, result: 5 },
    });
  });

  it("uses the error if there is also a result", () => {
    const { message } = parseMessage('{"id":1,"result":null,"error":{"code":-1,"message":"no"}}');
    expect(message).toMatchObject({ error: { code: -1, message: "no" } });
  });

  it.each([
    ["invalid JSON", "{"],
    ["an empty string", ""],
    ["a number", "1"],
    ["a string", '"m"'],
    ["null", "null"],
    ["a batch", '[{"id":1,"method":"m"}]'],
    ["an object without members", "{}"],
    ["a request with a null id", '{"id":null,"method":"m"}'],
    ["a request with an object for an id", '{"id":{},"method":"m"}'],
    ["a request with an id beyond the safe integers", '{"id":9007199254740993,"method":"m"}'],
    ["a request with an infinite id", '{"id":1e999,"method":"m"}'],
    ["a method that is not a string", '{"id":1,"method":5}'],
    ["a response with a null id", '{"id":null,"error":{"code":-1,"message":"no"}}'],
    ["a response with neither result nor error", '{"id":1}'],
    ["a null error without a result", '{"id":1,"error":null}'],
    ["an error without a code", '{"id":1,"error":{"message":"no"}}'],
    ["an error that is a string, next to a result", '{"id":1,"result":1,"error":"no"}'],
  ])("rejects %s as malformed", (_name, text) => {
    expect(failure(() => parseMessage(text)).code).toBe("malformed");
  });

  it("quotes only the start of a malformed message", () => {
    const { message } = failure(() => parseMessage(`{"secret":${"x".repeat(10_000)}`));
    expect(message).toContain('{"secret":xxx');
    expect(message.length).toBeLessThan(300);
  });

  it("never throws anything but an RpcError, for any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        try {
          parseMessage(text);
        } catch (error) {
          if (!(error instanceof RpcError)) throw error;
        }
      }),
    );
  });
});

describe("callBody", () => {
  it("round-trips any method and params", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.jsonValue(), (method, params) => {
        const { message } = parseMessage(`{${callBody(method, params)}`);
        expect(message).toEqual(JSON.parse(JSON.stringify({ method, params })));
      }),
    );
  });

  it("omits undefined params", () => {
    expect(callBody("m", undefined)).toBe('"method":"m"}');
    expect(callBody("m", null)).toBe('"method":"m","params":null}');
  });
});

describe("serializeValue", () => {
  it("replaces lone surrogates, which not every JSON parser accepts", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary" })),
        fc.string({ unit: fc.constantFrom("\ud83d", "\ude00", "\\", "u", "d", "8", '"', "\n") }),
        (texts, odd) => {
          const value = { texts, [odd]: odd, nested: [odd + "x", `\\ud800${odd}`] };
          const json = serializeValue(value, "The value");
          const nested = value.nested.map((text) => text.toWellFormed());
          const key = odd.toWellFormed();
          expect(JSON.parse(json)).toEqual({ texts, [key]: key, nested });
          expect(json.isWellFormed()).toBe(true);
          expect(json).not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/);
        },
      ),
    );
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;

  it.each([
    ["a bigint", 1n],
    ["a cycle", cycle],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["undefined", undefined],
    ["an object whose toJSON returns undefined", { toJSON: () => undefined }],
  ])("rejects %s", (_name, value) => {
    const error = failure(() => serializeValue(value, "The value"));
    expect(error.code).toBe("unserializable");
    expect(error.message).toMatch(/^The value can't be serialised as JSON: ./);
  });

  it("keeps the error of a toJSON as the cause", () => {
    const cause = new Error("no");
    const value = {
      toJSON: () => {
        throw cause;
      },
    };
    expect(failure(() => serializeValue(value, "It")).cause).toBe(cause);
  });

  it("sends pre-serialised JSON unchanged", () => {
    expect(callBody("m", new RawJson('{"a":"b"}'))).toBe('"method":"m","params":{"a":"b"}}');
  });
});
