import { expect, test } from "vitest";
import { parseNodeUrl } from "./node-url.ts";

test.each(["http://10.0.0.7:4100", "https://node-b.internal", "http://[::1]:4100/", "http://localhost:4100"])(
  "accepts %s",
  (url) => {
    expect(parseNodeUrl(url)?.origin).toBe(url.replace(/\/$/, ""));
  },
);

test.each([
  null,
  "",
  "node-b:4100",
  "/sessions",
  "file:///etc/passwd",
  "ftp://node-b",
  "javascript:alert(1)",
  "unix:/run/docker.sock",
  "http://user:secret@node-b:4100",
  "http://user@node-b",
  "http://node-b:4100/path",
  "http://node-b/?query",
  "http://node-b/#fragment",
  "http://node-b/..",
  "http://node-b\\@evil.example",
  " http://node-b",
  "http://node-b\t",
  "http://169.254.169.254/latest/meta-data",
  "http:node-b",
])("refuses %j", (url) => {
  expect(parseNodeUrl(url)).toBeUndefined();
});
