// One suite for all pairs of harnesses and executors, ours and Codex's own, through our registry and rendezvous.
import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type EndKind,
  type PairedHarness,
  startExecutor,
  startHarness,
  startRestartableRegistry,
} from "./pairings.ts";

const PAIRS: readonly (readonly [EndKind, EndKind])[] = [
  ["ours", "ours"],
  ["ours", "codex"],
  ["codex", "ours"],
  ["codex", "codex"],
];

/** A turn with the real codex takes seconds on a busy machine. */
const TURN_MS = 60_000;

describe.each(PAIRS)("harness: %s, executor: %s", { timeout: TURN_MS }, (harnessKind, executorKind) => {
  const stack = new AsyncDisposableStack();
  let registry: Awaited<ReturnType<typeof startRestartableRegistry>>;
  let harness: PairedHarness;

  beforeAll(async () => {
    registry = stack.use(await startRestartableRegistry());
    stack.use(await startExecutor(executorKind, await registry.at("execute")));
    await registry.waitForExecutor();
    harness = stack.use(await startHarness(harnessKind, await registry.at("connect")));
  }, TURN_MS);

  afterAll(() => stack.disposeAsync(), TURN_MS);

  test("runs a command with its output and exit code", async () => {
    const result = await harness.run("echo remote; pwd; exit 3");
    expect(result).toEqual({ output: `remote\n${harness.workspace}\n`, exitCode: 3 });
  });

  test("passes any text in both directions", async () => {
    const result = await harness.run("echo 'größe ✓ 🚀'; printf 'a\\tb\\n'");
    expect(result).toEqual({ output: "größe ✓ 🚀\na\tb\n", exitCode: 0 });
  });

  test("types into a command on a PTY", async () => {
    const { output, exitCode } = await harness.type("read line; echo got $line; tty", "hello\n");
    expect(output).toContain("got hello");
    expect(output).toContain("/dev/pts/");
    expect(exitCode).toBe(0);
  });

  test("adds, changes and deletes files as a patch says", async () => {
    const { workspace } = harness;
    await writeFile(join(workspace, "old.txt"), "one\n");
    await writeFile(join(workspace, "gone.txt"), "x\n");
    await harness.patch();
    expect(await readFile(join(workspace, "new/deep.txt"), "utf8")).toBe("hello\n");
    expect(await readFile(join(workspace, "old.txt"), "utf8")).toBe("two\n");
    await expect(access(join(workspace, "gone.txt"))).rejects.toThrow("ENOENT");
  });

  test("leaves a command in the background and returns to it", async () => {
    const background = "echo begun; while [ ! -e foreground ]; do sleep 0.05; done; echo ended; exit 4";
    const [behind, front] = await harness.runBehind(background, "echo front; touch foreground");
    expect(front).toEqual({ output: "front\n", exitCode: 0 });
    expect(behind).toEqual({ output: "begun\nended\n", exitCode: 4 });
  });

  test("loses no output when the registry and the rendezvous restart in the middle of a command", async () => {
    const { output, exitCode } = await harness.run(
      "echo one; while [ ! -e go ]; do sleep 0.05; done; seq 2000; exit 5",
      // Not earlier: a harness terminates a process whose start was not answered before the connection ended.
      async () => {
        await registry.stop();
        await writeFile(join(harness.workspace, "go"), "");
        await registry.start();
      },
    );
    expect(exitCode).toBe(5);
    expect(output).toBe(`one\n${Array.from({ length: 2000 }, (_, index) => `${index + 1}\n`).join("")}`);
  });
});
