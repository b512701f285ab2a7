import type { Session } from "@codexkit/daemon/client";
import { patch, run, say, type ScriptFunction } from "@codexkit/scripted-model";
import { tempFolder } from "@codexkit/testing";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli, startCli } from "./cli-process.ts";
import { startTestDaemon, type TestDaemon } from "./test-daemon.ts";

const script: ScriptFunction = ({ newOutputs: [output] }) => {
  if (output === undefined) return run(String.raw`printf '\033[2Jclean\n'`, { callId: "command" });
  if (output.callId !== "command") return say("Done.");
  return patch("*** Begin Patch\n*** Add File: note.txt\n+hello\n*** End Patch\n");
};

let daemon: TestDaemon;
let session: Session;
beforeAll(async () => {
  daemon = await startTestDaemon(script);
  session = await createSession("Fix the parser");
  await daemon.client.send(session.id, "go");
  for await (const { type } of daemon.client.sessionEvents(session.id)) if (type === "turn.completed") break;
});
afterAll(async () => daemon[Symbol.asyncDispose]());

async function createSession(name: string): Promise<Session> {
  const created = await daemon.client.createSession({ cwd: daemon.workspace, name }, { wait: 20_000 });
  return created.session;
}

describe("list", () => {
  test("prints a table, or one JSON value per line", async () => {
    const { exitCode, stdout, stderr } = await daemon.run(["sessions"]);

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.split("\n").map((line) => line.replaceAll(/ {2,}/g, "  "))).toEqual([
      "ID  PHASE  CHANGED  NAME  FOLDER",
      `${session.id}  idle  just now  Fix the parser  ${daemon.workspace}`,
      "",
    ]);
    expect(await daemon.json(["sessions", "list", "--search", "PARSER"])).toMatchObject([{ id: session.id }]);
    expect(await daemon.json(["sessions", "list", "--phase", "failed"])).toEqual([]);
  });
});

describe("show", () => {
  test.each([
    ["its name", () => "Fix the parser"],
    ["the beginning of its ID", () => session.id.slice(0, 30)],
  ])("finds a session by %s, and prints the history without escape sequences", async (_how, text) => {
    const { exitCode, stdout } = await daemon.run(["sessions", "show", text()]);
    const lines = stdout.split("\n");

    expect(exitCode).toBe(0);
    expect(lines[0]).toBe("Fix the parser");
    expect(lines.slice(lines.indexOf("› go"))).toEqual([
      "› go",
      "",
      String.raw`$ printf '\033[2Jclean\n'`,
      "  clean",
      expect.stringMatching(/^ {2}exit 0(?: · \d+s)?$/),
      "",
      "± note.txt added",
      "  +hello",
      "",
      "Done.",
      "",
    ]);
  });

  test("an unknown one says what to do", async () => {
    expect(await daemon.run(["sessions", "show", "nope"])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: 'error: There is no session "nope".\nRun `codexkit sessions` to see the daemon\'s sessions.\n',
    });
  });
});

test("hostile names are harmless, and an ambiguous beginning is refused", async () => {
  const hostile = await createSession("\u202Eeman evil");
  const { stdout } = await daemon.run(["sessions", "list", "--search", "evil"]);
  const ambiguous = await daemon.run(["sessions", "show", hostile.id.slice(0, 4)]);

  expect(stdout).toContain("eman evil");
  expect(stdout).not.toContain("\u202E");
  expect(ambiguous.exitCode).toBe(1);
  expect(ambiguous.stderr).toContain(`Name one by its ID: `);
  await daemon.client.request("DELETE /sessions/{sessionId}", {
    params: { sessionId: hostile.id },
    query: { wait: 10_000 },
  });
});

describe("export, delete and import", () => {
  test("serve --replay shows an exported session, and changes nothing", async () => {
    const file = join(daemon.workspace, "replayed.session");
    await daemon.json(["sessions", "export", session.id, "-o", file]);
    await using home = await tempFolder("replay");
    const replay = startCli(["serve", "--replay", file, "--json", "--listen", ":0"], {
      env: { HOME: home.path },
    });
    await once(createInterface(replay.stdout), "line");
    const replayed = await runCli(["sessions", "show", session.id], { env: { HOME: home.path } });
    const refused = await runCli(["sessions", "delete", "--yes", session.id], { env: { HOME: home.path } });
    const ended = once(replay, "close");
    replay.kill("SIGTERM");
    await ended;
    expect(replay.exitCode).toBe(0);
    expect(replayed.stdout).toContain("± note.txt added");
    expect(refused.exitCode).toBe(1);
    expect(await readdir(join(home.path, ".codexkit/daemons"))).toEqual([]);
  });

  test("move a session", async () => {
    const file = join(daemon.workspace, "parser.session");
    const exported = await daemon.json(["sessions", "export", session.id, "-o", file]);
    const again = await daemon.run(["sessions", "export", session.id, "-o", file]);
    const piped = await daemon.run(["sessions", "export", session.id, "-o", "-"]);

    expect(exported).toEqual([{ sessionId: session.id, file, bytes: (await stat(file)).size }]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(again).toMatchObject({
      exitCode: 2,
      stderr: `error: The file ${file} already exists.\nReplace it with --force, or choose another file with -o.\n`,
    });
    expect(piped.stdout.split("\n").length).toBe((await readFile(file, "utf8")).split("\n").length);

    const inUse = await daemon.run(["sessions", "import", file]);
    expect(inUse.exitCode).toBe(1);
    expect(await daemon.run(["sessions", "delete", session.id])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "error: Deleting requires confirmation.\nPass --yes to delete without confirmation.\n",
    });
    expect(await daemon.json(["sessions", "delete", "--yes", session.id])).toEqual([{ deleted: session.id }]);
    const [imported] = await daemon.json<Session>(["sessions", "import", "--trust", "--name", "Moved", file]);
    expect(imported).toMatchObject({
      name: "Moved",
      threadId: session.threadId,
      leftOut: { mcpServers: [], tools: [], environment: null, permissionMode: null, answers: 0 },
    });
  });

  test.each([
    [["import", "missing"], 2, "The file missing can't be read (ENOENT)."],
    [["import", "garbage"], 1, "error: "],
    [["export", "Moved", "-o", "no/such/file"], 1, "The file no/such/file can't be written (ENOENT)."],
    [["export", "nope"], 1, 'There is no session "nope".'],
    [["delete", "--yes", "Moved", "nope"], 1, 'There is no session "nope".'],
    [["delete", "--yes", ""], 2, "The ID of the session is empty."],
    [["delete", "--yes", "0"], 2, '"0" is too short to identify a session.'],
    [["list", "--limit", "0"], 2, "Expected a positive whole number."],
  ])("%j exits with %d", async (args, exitCode, message) => {
    await writeFile(join(daemon.workspace, "garbage"), "no session\n");
    const result = await daemon.run(["sessions", ...args]);

    expect(result).toMatchObject({ exitCode, stdout: "" });
    expect(result.stderr).toContain(message);
    expect(result.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
    expect(existsSync(join(daemon.workspace, "no"))).toBe(false);
    expect(await daemon.json(["sessions", "list", "--search", "Moved"])).toHaveLength(1);
  });
});
