import { expect, test } from "vitest";

test("a regular expression inside an expected object fails the test instead of matching everything", () => {
  expect(() => expect({ message: "a" }).toMatchObject({ message: /b/ })).toThrow(
    "expect.stringMatching(/b/)",
  );
  expect(() => expect([{ message: "a" }]).toMatchObject([{ message: /a/ }])).toThrow(
    "expect.stringMatching(/a/)",
  );
  expect({ message: "a" }).toMatchObject({ message: expect.stringMatching(/a/) as string });
  expect({ pattern: /a/ }).toEqual({ pattern: /a/ });
});
