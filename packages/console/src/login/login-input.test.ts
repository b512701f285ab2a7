import { expect, test } from "vitest";
import { deviceName, loginLink, readCode, readLogin } from "./login-input.ts";

test.each([
  ["", undefined],
  [" ckd_abc ", { token: "ckd_abc" }],
  ["ckl_abc", { code: "ckl_abc" }],
  ["http://127.0.0.1:4100/console/login#code=a%2Bb", { code: "a+b" }],
])("reads %j", (text, input) => {
  expect(readLogin(text)).toEqual(input);
});

test("creates a link with the code in the fragment", () => {
  const link = loginLink("http://10.0.0.2:4100", "a+b");
  expect(link).toBe("http://10.0.0.2:4100/console/login#code=a%2Bb");
  expect(readCode(new URL(link).hash)).toBe("a+b");
  expect(readCode("#item-5")).toBeUndefined();
});

test.each([
  [
    "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/150.0 Mobile Safari/537.36",
    "Chrome on Android",
  ],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1", "Safari on iPhone"],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux"],
  ["curl/8", "Browser"],
])("names %j", (userAgent, name) => {
  expect(deviceName(userAgent)).toBe(name);
});
