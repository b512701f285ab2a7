import { tempFolder } from "@codexkit/testing";
import { strFromU8, unzipSync, zipSync } from "fflate";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openBundle } from "./open-bundle.ts";
import { redactEnvironment } from "./redact-environment.ts";
import { writeBundle } from "./write-bundle.ts";

const content = {
  evaluationId: "e1",
  prompt: "test/p",
  status: "completed" as const,
  request: { text: "Do it." },
  output: { text: "Done." },
  sessionBefore: {},
  sessionAfter: { slices: {} },
  events: [{ type: "A" }, { type: "B" }],
  transcript: [],
  diff: "--- a\n+++ b\n",
  error: undefined,
};

describe("bundles", () => {
  test("a written bundle can be read back, and only the owner can read the file", async () => {
    await using folder = await tempFolder("bundle");
    const path = await writeBundle(folder.path, content, new Date(0));

    expect(await openBundle(path)).toMatchObject({
      manifest: { version: 1, evaluationId: "e1", prompt: "test/p", createdAt: "1970-01-01T00:00:00.000Z" },
      request: { text: "Do it." },
      events: [{ type: "A" }, { type: "B" }],
      transcript: [],
      diff: "--- a\n+++ b\n",
      error: undefined,
    });
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  test("a changed file or a file that is not a bundle is rejected", async () => {
    await using folder = await tempFolder("bundle");
    const path = await writeBundle(folder.path, content);
    const files = unzipSync(readFileSync(path));
    writeFileSync(path, zipSync({ ...files, "output.json": new TextEncoder().encode("{}") }));
    await expect(openBundle(path)).rejects.toThrow(/"output\.json" is missing or has been changed/);

    const newer = JSON.stringify({
      ...(JSON.parse(strFromU8(files["manifest.json"] ?? new Uint8Array())) as object),
      version: 9,
    });
    writeFileSync(path, zipSync({ "manifest.json": new TextEncoder().encode(newer) }));
    await expect(openBundle(path)).rejects.toThrow(/version 9/);

    const text = join(folder.path, "text.zip");
    writeFileSync(text, "no zip");
    await expect(openBundle(text)).rejects.toMatchObject({ code: "invalid_bundle" });
  });
});

test("secrets are redacted by name and by format", () => {
  const environment = {
    PATH: "/bin",
    OPENAI_API_KEY: "k",
    GITHUB_TOKEN: "t",
    GH_PAT: "p",
    DB_PWD: "p",
    MY_CI: "ghp_0123456789",
    PWD: "/home/a",
    DATABASE_URL: "postgres://me:pw@host/db",
    HTTP_PROXY: "http://user@proxy",
    HOME: "/home/me",
  };
  expect(redactEnvironment(environment)).toEqual({
    PATH: "/bin",
    OPENAI_API_KEY: "[redacted]",
    GITHUB_TOKEN: "[redacted]",
    GH_PAT: "[redacted]",
    DB_PWD: "[redacted]",
    MY_CI: "[redacted]",
    PWD: "/home/a",
    DATABASE_URL: "[redacted]",
    HTTP_PROXY: "[redacted]",
    HOME: "/home/me",
  });
});
