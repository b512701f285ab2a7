import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { StdinCredential } from "./stdin-credential.ts";

const NEVER = new AbortController().signal;
const REQUEST = { method: "POST", url: "https://r.example", headers: {}, body: "" } as const;

const frame = (token: string, expiresAt: number, more: object = {}) =>
  `${JSON.stringify({ version: 1, environment_id: "env", token, expires_at: expiresAt, ...more })}\n`;

function credential(now = () => 1_000_000) {
  const input = new PassThrough();
  return { input, credential: new StdinCredential(input, "env", now) };
}

test("a request waits for the first token, and uses the newest", async () => {
  const it = credential();
  const first = it.credential.authorize(REQUEST, NEVER);
  it.input.write(frame("one", 2_000));
  expect(await first).toEqual({ authorization: "Bearer one" });
  it.input.write(frame("two", 3_000));
  await new Promise(setImmediate);
  expect(await it.credential.authorize(REQUEST, NEVER)).toEqual({ authorization: "Bearer two" });
});

test("a request waits while the token has expired", async () => {
  let now = 1_000_000;
  const it = credential(() => now);
  it.input.write(frame("old", 2_000));
  await it.credential.authorize(REQUEST, NEVER);
  now = 2_000_000;
  const next = it.credential.authorize(REQUEST, NEVER);
  it.input.write(frame("new", 3_000));
  expect(await next).toEqual({ authorization: "Bearer new" });
});

test("a wait ends when its signal aborts, and when the pipe closes", async () => {
  const it = credential();
  await expect(it.credential.authorize(REQUEST, AbortSignal.abort(new Error("stop")))).rejects.toThrow(
    "stop",
  );
  const waiting = it.credential.authorize(REQUEST, NEVER);
  it.input.end();
  await expect(waiting).rejects.toMatchObject({ code: "unauthorized" });
  await expect(it.credential.closed).rejects.toMatchObject({ code: "unauthorized" });
});

test("closing the pipe is not an error", async () => {
  const it = credential();
  it.input.end(frame("one", 2_000));
  await expect(it.credential.closed).resolves.toBeUndefined();
});

test.each([
  ["another version", frame("hidden", 2_000, { version: 2 })],
  ["another environment", frame("hidden", 2_000, { environment_id: "other" })],
  ["an empty token", frame("", 2_000)],
  ["an expired token", frame("hidden", 999)],
  ["unknown members", frame("hidden", 2_000, { more: 1 })],
  ["no JSON", "hidden\n"],
  ["an endless line", "hidden".repeat(20_000)],
])("%s ends the program with an error that does not repeat the token", async (_what, text) => {
  const it = credential();
  it.input.write(text);
  const error = await it.credential.closed.then(() => "closed", String);
  expect(error).toContain("--executor-credential-stdin");
  expect(error).not.toContain("hidden");
});
