import { say } from "@codexkit/scripted-model";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestDaemon, type TestDaemon } from "../../test/test-daemon.ts";

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await startTestDaemon(() => [say("Hello.")]);
});

afterAll(() => daemon[Symbol.asyncDispose]());

describe("a token", () => {
  test("is printed alone, can do what its scopes allow, and nothing after it was revoked", async () => {
    const created = await daemon.run(["token", "create", "--scope", "read", "--expires", "7d", "reader"]);
    const env = { ...daemon.env, CODEXKIT_TOKEN: created.stdout.trim() };
    const reading = await daemon.run(["sessions", "--json"], { env });
    const managing = await daemon.run(["token", "list"], { env });
    const revoked = await daemon.run(["token", "revoke", "reader"]);
    const after = await daemon.run(["sessions"], { env });
    const list = await daemon.run(["token", "list"]);

    expect(created.stdout).toMatch(/^ckd_\S+\n$/);
    expect(created.stderr).toMatch(
      /^Token \S+ with read, until \d{4}-.+Z\. Copy it now, because it can't be shown again\.\n$/,
    );
    expect(reading).toMatchObject({ exitCode: 0, stderr: "" });
    expect(managing).toMatchObject({ exitCode: 1, stdout: "" });
    expect(revoked).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^Revoked \S+ \(reader\)\.\n$/),
    });
    expect(after.stderr).toMatch(/^error: The daemon at \S+ does not accept the token\./);
    expect(list.stdout).toMatch(/^\S+ +reader +read +revoked +used /m);
    expect(list.stdout).not.toContain(created.stdout.trim());
  });

  test("of the command itself is revoked with --yes only", async () => {
    const [own] = await daemon.json<{ id: string }>(["token", "list"]);
    const refused = await daemon.run(["token", "revoke", own?.id ?? ""]);
    const list = await daemon.run(["token", "list"]);

    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain("is the token that this command uses");
    expect(list.exitCode).toBe(0);
  });

  test.each([
    [["create", ""], 2, "error: The name of the token is empty.\n"],
    [["create", "--scope", "everything", "x"], 2, "everything"],
    [["revoke", "no-such-token"], 1, 'error: There is no valid token with the ID or name "no-such-token".\n'],
    [["revoke", ""], 2, "error: "],
  ])("%j is refused", async (args, exitCode, message) => {
    const finished = await daemon.run(["token", ...args]);

    expect(finished).toMatchObject({ exitCode, stdout: "" });
    expect(finished.stderr).toContain(message);
  });
});
