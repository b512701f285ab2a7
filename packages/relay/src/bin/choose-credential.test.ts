import { afterEach, expect, test, vi } from "vitest";
import { chooseCredential } from "./choose-credential.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const FLAGS = {
  remote: "https://registry.example",
  environmentId: "env",
  remoteTransport: "direct",
  logLevel: "info",
} as const;
const KEYS = {
  AWS_ACCESS_KEY_ID: "AKID",
  AWS_SECRET_ACCESS_KEY: "secret",
  AWS_SESSION_TOKEN: "session",
  AWS_REGION: "eu-west-1",
};

function stubKeys(): void {
  for (const [name, value] of Object.entries(KEYS)) vi.stubEnv(name, value);
}

test("AWS keys that sign requests are not inherited by commands", async () => {
  stubKeys();
  const credential = chooseCredential({ ...FLAGS, awsSigv4: true });
  expect(process.env).toMatchObject({ AWS_REGION: "eu-west-1" });
  const left = Object.entries(process.env).filter(([, value]) => /AKID|secret|session/.test(value ?? ""));
  expect(left).toEqual([]);
  const request = { method: "POST", url: "https://registry.example", headers: {}, body: "" } as const;
  expect(await credential.authorize(request, new AbortController().signal)).toMatchObject({
    authorization: expect.stringContaining("Credential=AKID/"),
    "x-amz-security-token": "session",
  });
});

test("AWS keys that only commands need stay in the environment", () => {
  stubKeys();
  vi.stubEnv("CODEXKIT_RELAY_TOKEN", "token");
  chooseCredential(FLAGS);
  expect(process.env).toMatchObject(KEYS);
  expect(process.env["CODEXKIT_RELAY_TOKEN"]).toBeUndefined();
});
