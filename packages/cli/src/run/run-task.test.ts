import { gate, run, say, usage, waitFor } from "@codexkit/scripted-model";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { uniqueSleep, waitForProcesses } from "../../test/find-processes.ts";
import { openScriptedCli, type ScriptedCli } from "../../test/scripted-cli.ts";

const SLEEP = { terminate: uniqueSleep(), pipe: uniqueSleep(), interrupt: uniqueSleep() };

let cli: ScriptedCli;

beforeAll(async () => {
  cli = await openScriptedCli({
    work: [
      [say("First a command.", { phase: "commentary" }), run("echo hello")],
      [say("Second\nanswer", { phase: "final_answer" })],
    ],
    schema: [[say('{"file":"a.ts"}', { phase: "final_answer" }), usage({ input: 100, output: 20 })]],
    denied: [
      [run("frobnicate --all", { escalate: "Because." })],
      [say("Then not.", { phase: "final_answer" })],
    ],
    allowed: [[run("echo allowed", { escalate: "Because." })], [say("Done.", { phase: "final_answer" })]],
    write: [[run("echo x > written.txt", { yieldMs: 30_000 })], [say("Done.", { phase: "final_answer" })]],
    hostile: [[say("a\u001b]52;c;aGk=\u0007b\u001b[31mc", { phase: "final_answer" })]],
    expensive: [
      [run("true"), usage({ input: 5_000, output: 100 })],
      [waitFor(gate()), say("Too late.", { phase: "final_answer" })],
    ],
    big: [
      [
        run("head -c 10485760 /dev/zero | tr '\\0' 'x' | fold -w 99; echo; echo the end", {
          yieldMs: 30_000,
        }),
      ],
      [say("Big.", { phase: "final_answer" })],
    ],
    terminate: [[run(SLEEP.terminate, { yieldMs: 30_000 })]],
    pipe: [[run(SLEEP.pipe, { yieldMs: 30_000 })]],
    interrupt: [[run(SLEEP.interrupt, { yieldMs: 30_000 })]],
  });
});

afterAll(() => cli[Symbol.asyncDispose]());

describe("without a terminal", () => {
  test("stdout gets the last message, stderr the progress, and -o a file", async () => {
    const file = join(cli.workspace, "last.txt");
    const finished = await cli.run(["run", "-o", file, "-"], { input: "work on it" });

    expect(finished).toMatchObject({ exitCode: 0, stdout: "Second\nanswer\n" });
    expect(finished.stderr).toMatch(
      /^First a command\.\n\n\$ echo hello\n {2}hello\n {2}exit 0(?: · \d+s)?\n\ncompleted in \d+s · 30 tokens · thread \S+\n$/,
    );
    await expect(readFile(file, "utf8")).resolves.toBe("Second\nanswer");
  });

  test("stdout has no escape sequences, and the file of -o has the exact message", async () => {
    const file = join(cli.workspace, "hostile.txt");
    const { stdout } = await cli.run(["run", "-o", file, "hostile"]);

    expect(stdout).toBe("abc\n");
    await expect(readFile(file, "utf8")).resolves.toBe("a\u001b]52;c;aGk=\u0007b\u001b[31mc");
  });

  test("--resume continues the last thread of the folder, and --fork copies it", async () => {
    const folder = join(cli.workspace, "resumed");
    await mkdir(folder);
    const threadIdOf = (stdout: string): string =>
      (JSON.parse(stdout.split("\n")[0] ?? "") as { threadId: string }).threadId;
    const first = await cli.run(["run", "--json", "-C", folder, "schema"]);
    const resumed = await cli.run(["run", "--json", "-C", folder, "--resume", "schema again"]);
    const forked = await cli.run([
      "run",
      "--json",
      "-C",
      folder,
      "--resume",
      threadIdOf(first.stdout),
      "--fork",
      "schema",
    ]);

    expect([first.exitCode, resumed.exitCode, forked.exitCode]).toEqual([0, 0, 0]);
    expect(threadIdOf(resumed.stdout)).toBe(threadIdOf(first.stdout));
    expect(threadIdOf(forked.stdout)).not.toBe(threadIdOf(first.stdout));
  });

  test("a command with 10 MB of output shows its last lines", async () => {
    const { exitCode, stderr } = await cli.run(["run", "big"]);

    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/ {2}… \d+ more lines\n(?: {2}x{1,99}\n)+\s*the end\n {2}exit 0(?: · \d+s)?\n/);
    expect(stderr.length).toBeLessThan(5_000);
  });
});

test("--json prints one event per line, and --output-schema is sent to the model", async () => {
  const schema = join(cli.workspace, "schema.json");
  await writeFile(
    schema,
    '{"type":"object","properties":{"file":{"type":"string"}},"required":["file"],"additionalProperties":false}',
  );
  const { exitCode, stdout, stderr } = await cli.run(["run", "--json", "--output-schema", schema, "schema"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });

  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(events[0]).toMatchObject({ type: "thread.started", settings: { model: "mock-model" } });
  expect(events.at(-1)).toMatchObject({
    type: "turn.completed",
    result: { finalResponse: '{"file":"a.ts"}', usage: { totalTokens: 120 } },
  });
});

test("--image sends the file to the model", async () => {
  const pixel = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  await writeFile(join(cli.workspace, "pixel.png"), pixel);
  const { exitCode } = await cli.run(["run", "--image", "pixel.png", "schema"]);
  const { input = [] } = cli.model.requests.at(-1) ?? {};

  expect(exitCode).toBe(0);
  expect(JSON.stringify(input)).toContain('"image_url":"data:image/png;base64,');
});

describe("--mode", () => {
  test.each([
    ["build", 0, true],
    ["plan", 1, false],
    ["chat", 1, false],
  ] as const)("%s: a command that writes exits with %i", async (mode, code, isWritten) => {
    const { exitCode } = await cli.run(["run", "--mode", mode, "write", mode]);
    // What the model saw: Codex reports no item for a command that its sandbox stops immediately.
    const output = JSON.stringify(cli.model.requests.at(-1)?.input.at(-1));

    expect(exitCode).toBe(0);
    expect(output).toContain(`Process exited with code ${code}\\n`);
    expect(existsSync(join(cli.workspace, "written.txt"))).toBe(isWritten);
    await rm(join(cli.workspace, "written.txt"), { force: true });
  });

  test("chat and plan tell the model what it may do", async () => {
    const [chat, plan, build] = cli.model.requests
      .filter(({ lastUserText }) => lastUserText.startsWith("write"))
      .reduce<string[]>(
        (texts, { lastUserText, body }) => {
          const index = ["write chat", "write plan", "write build"].indexOf(lastUserText.trim());
          texts[index] = JSON.stringify(body);
          return texts;
        },
        ["", "", ""],
      );

    expect(chat).toContain("You are in chat mode");
    expect(plan).toMatch(/Plan Mode/i);
    expect(build).not.toContain("You are in chat mode");
  });
});

describe("approvals without a terminal", () => {
  test("are denied with exit code 3 and a hint", async () => {
    const { exitCode, stderr } = await cli.run(["run", "denied"]);

    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/^denied: no handler answered the question$/m);
    expect(stderr).toMatch(
      /\nerror: Denied: .*\nAllow it with --allow or --policy, or run the task in a terminal/,
    );
  });

  test("are answered by the rules of --allow and --policy", async () => {
    const policy = join(cli.workspace, "policy.json");
    await writeFile(policy, JSON.stringify({ preset: "read-only", additionalAllow: ["echo allowed"] }));
    const [byRule, byPolicy] = await Promise.all([
      cli.run(["run", "--allow", "echo allowed", "allowed"]),
      cli.run(["run", "--policy", policy, "allowed"]),
    ]);

    expect(byRule).toMatchObject({ exitCode: 0, stdout: "Done.\n" });
    expect(byRule.stderr).toContain("allowed: ");
    expect(byPolicy).toMatchObject({ exitCode: 0, stdout: "Done.\n" });
  });
});

test("a turn over its budget is interrupted with exit code 4", async () => {
  const { exitCode, stderr } = await cli.run(["run", "--budget", "5k", "expensive"]);

  expect(exitCode).toBe(4);
  expect(stderr).toContain(
    "error: The task used 5.1k tokens, which exceeds the budget of 5.0k.\nThe turn was interrupted.",
  );
});

describe("a running command ends with the program", () => {
  test("after SIGTERM, with exit code 143", async () => {
    const child = cli.start(["run", "terminate"]);
    await waitForProcesses(SLEEP.terminate, "some");
    child.kill("SIGTERM");

    expect(await once(child, "exit")).toEqual([143, null]);
    await waitForProcesses(SLEEP.terminate, "none");
  });

  test("after two SIGINT, with exit code 130", async () => {
    const child = cli.start(["run", "interrupt"]);
    await waitForProcesses(SLEEP.interrupt, "some");
    child.kill("SIGINT");
    child.kill("SIGINT");

    expect(await once(child, "exit")).toEqual([130, null]);
    await waitForProcesses(SLEEP.interrupt, "none");
  });

  test("after a broken pipe, with exit code 141", async () => {
    const child = cli.start(["run", "--json", "pipe"]);
    for await (const line of createInterface({ input: child.stdout })) {
      expect(line).toContain("thread.started");
      break;
    }
    child.stdout.destroy();

    expect(await once(child, "exit")).toEqual([141, null]);
    await waitForProcesses(SLEEP.pipe, "none");
  });
});

describe("bad input", () => {
  test.each<[string, string[], number, RegExp]>([
    ["a missing prompt", [], 2, /^error: The prompt is missing\.\nPass it as an argument/],
    [
      "a missing folder",
      ["-C", "/nowhere/at/all", "x"],
      2,
      /^error: The folder \/nowhere\/at\/all does not exist\./,
    ],
    [
      "a bad budget",
      ["--budget", "lots", "x"],
      2,
      /'--budget <tokens>' argument 'lots' is invalid\. Expected a number of tokens/,
    ],
    [
      "a missing policy",
      ["--policy", "none.json", "x"],
      2,
      /^error: The policy none\.json can't be read \(ENOENT\)\./,
    ],
    ["an invalid rule", ["--allow", "", "x"], 2, /^error: --allow is not valid: /],
    ["a missing image", ["--image", "none.png", "x"], 2, /^error: The image \S+none\.png does not exist\./],
    ["a wrong ID", ["--resume", "nope", "x"], 2, /^error: "nope" is not the ID of a thread\./],
    ["a file as a folder", ["-C", "/etc/passwd", "x"], 2, /^error: \/etc\/passwd is not a folder\./],
    ["an image that is none", ["--image", "/etc/passwd", "x"], 2, /^error: \/etc\/passwd is not an image\./],
    [
      "an effort that no model has",
      ["--effort", "bogus", "x"],
      2,
      /^error: Unknown effort "bogus"\.\nChoose one of .*low, medium, high/,
    ],
    ["--fork without --resume", ["--fork", "x"], 2, /^error: --fork needs --resume\./],
    [
      "an output in a missing folder",
      ["-o", "/nowhere/at/all", "x"],
      2,
      /^error: The file \/nowhere\/at\/all can't be written \(ENOENT\)\./,
    ],
    [
      "an unknown thread",
      ["--resume", "01a1e50e-565a-7570-a653-4486818807cf", "x"],
      1,
      /^error: There is no thread "01a1e50e-\S+"\.\nRun `codexkit threads`/,
    ],
  ])("%s", async (_what, args, exitCode, message) => {
    const finished = await cli.run(["run", ...args]);

    expect(finished).toMatchObject({ exitCode, stdout: "" });
    expect(finished.stderr).toMatch(message);
    expect(finished.stderr).not.toMatch(/^\s+at /m);
  });

  test("no codex", async () => {
    const finished = await cli.run(["run", "x"], { env: { CODEX_BIN: "/nowhere/codex" } });

    expect(finished.exitCode).toBe(1);
    expect(finished.stderr).toMatch(/^error: .*\nRun `npm install @openai\/codex`, or set CODEX_BIN/);
  });

  test("no credentials", async () => {
    const empty = join(cli.workspace, "empty-home");
    await mkdir(empty);
    const finished = await cli.run(["run", "x"], { env: { CODEX_HOME: empty } });

    expect(finished).toMatchObject({ exitCode: 1, stdout: "" });
    expect(finished.stderr).toBe(
      "error: No credentials for a model were found.\nRun `codexkit login` or set OPENAI_API_KEY. To try codexkit without credentials, add --demo.\n",
    );
  });
});
