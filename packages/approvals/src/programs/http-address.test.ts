import { expect, it } from "vitest";
import { isHttpAddress, nameOfDownload } from "./http-address.ts";

it.each([
  "http://a.test",
  "https://a.test/x?y=1",
  "localhost:3000/x",
  "http://[::1]:80/",
  "a.test/http://b",
  "127.0.0.1",
])("recognises plain addresses: %s", (text) => {
  expect(isHttpAddress(text)).toBe(true);
});

it.each([
  "file:///x",
  "ftp://a",
  "http://{a,b}/",
  "http://a/[1-3]",
  "http://a b",
  "-o",
  "http://-x",
  "",
  "http://",
  "http://a/`id`",
  "http://[::1",
  "http://ftp://x",
])("does not recognise %j", (text) => {
  expect(isHttpAddress(text)).toBe(false);
});

it("names a download after the last part of its path", () => {
  expect(nameOfDownload("https://a.test/x/y.tgz?z#a/b")).toBe("y.tgz");
  expect(nameOfDownload("a.test/x")).toBe("x");
  expect(nameOfDownload("https://a.test")).toBe("");
  expect(nameOfDownload("https://a.test/")).toBe("");
  for (const name of ["x/", "x/%2e", "x/..", "x/."])
    expect(nameOfDownload(`https://a.test/${name}`)).toBeUndefined();
});
