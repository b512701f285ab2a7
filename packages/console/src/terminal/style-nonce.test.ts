import { expect, test } from "vitest";
import { withStyleNonce } from "./style-nonce.ts";

function fakeDocument(): Pick<Document, "createElement"> {
  const createElement = (name: string) => ({ name, nonce: "" });
  return { createElement } as unknown as Pick<Document, "createElement">;
}

test("sets the nonce of style elements only while the callback runs", () => {
  const document = fakeDocument();
  const original = document.createElement;
  const [style, div] = withStyleNonce(document, "abc", () => [
    document.createElement("STYLE"),
    document.createElement("div"),
  ]);
  expect([style?.nonce, div?.nonce]).toEqual(["abc", ""]);
  expect(document.createElement).toBe(original);
});

test("restores the document if the callback throws", () => {
  const document = fakeDocument();
  const original = document.createElement;
  expect(() =>
    withStyleNonce(document, "abc", () => {
      throw new Error("no canvas");
    }),
  ).toThrow("no canvas");
  expect(document.createElement).toBe(original);
});
