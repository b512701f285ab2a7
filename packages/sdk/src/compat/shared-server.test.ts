import { callTool, gate, run, say, type Script, type ScriptRequest, waitFor } from "@codexkit/scripted-model";
import { type CodexFolders, codexFolders } from "@codexkit/testing";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { TurnFailedError } from "../events/turn-result.ts";
import { findCodex } from "../process/find-codex.ts";
import { Codex, type CodexOptions, type ThreadOptions, ThreadRunError } from "./index.ts";
import { closeServers } from "./server-pool.ts";

interface Stage extends CodexFolders {
  readonly codex: Codex;
  /** Options for a `Codex` like that one. */
  readonly options: CodexOptions;
  /** Options for a thread with no sandbox, in the workspace. */
  readonly free: ThreadOptions;
  /** A program that replaces codex. */
  readonly impostor: (shell: string) => Promise<Codex>;
}

async function stage(script: Script, modelName = "gpt-5.5"): Promise<Stage> {
  const stack = new AsyncDisposableStack();
  const folders = stack.use(await codexFolders({ model: script, modelName, modelRetries: 0 }));
  stack.defer(closeServers);
  await mkdir(join(folders.workspace, ".git"));
  await writeFile(join(folders.workspace, ".git/HEAD"), "ref: refs/heads/main\n");
  const options = { codexPathOverride: findCodex().path, env: folders.env as Record<string, string> };
  const impostor = async (shell: string): Promise<Codex> => {
    const path = join(folders.root, "impostor");
    await writeFile(path, `#!/bin/sh\n${shell}\n`);
    await chmod(path, 0o755);
    return new Codex({ ...options, codexPathOverride: path });
  };
  return {
    ...folders,
    codex: new Codex(options),
    options,
    free: { workingDirectory: folders.workspace, sandboxMode: "danger-full-access" },
    impostor,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function rejection(promise: Promise<unknown>): Promise<ThreadRunError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ThreadRunError);
  return error as ThreadRunError;
}

/** A command's parent is the codex that runs it. */
const killCodex = run("kill -9 $PPID; sleep 60");

afterAll(closeServers);

describe("a codex that fails", () => {
  it("rejects a run when it is killed during a turn, and another one continues the thread", async () => {
    await using at = await stage(({ lastUserText }) => (lastUserText === "die" ? killCodex : "alive"));
    const thread = at.codex.startThread(at.free);
    await thread.run("hello");
    const error = await rejection(thread.run("die"));
    expect(error.message).toMatch(/^Codex Exec exited with signal SIGKILL: /);
    expect(error.reason).toBe("app_server_crashed");
    expect((await thread.run("and now?")).finalResponse).toBe("alive");
  });

  it("rejects with its stderr when it crashes at startup", async () => {
    await using at = await stage([]);
    const broken = await at.impostor("echo 'no space left on device' >&2; exit 7");
    const error = await rejection(broken.startThread(at.free).run("hi"));
    expect(error.message).toBe("Codex Exec exited with code 7: no space left on device\n");
    expect(error.reason).toBe("codex_start_failed");
  });

  it("rejects when it exits without output, which the original treats as success", async () => {
    await using at = await stage([]);
    const silent = await at.impostor("exit 0");
    const error = await rejection(silent.startThread(at.free).run("hi"));
    expect(error.message).toBe("Codex Exec exited with code 0: ");
  });

  it("does not end the program when it closes its stdin, unlike the original", async () => {
    await using at = await stage([]);
    const deaf = await at.impostor("exec 0<&-; exit 5");
    const error = await rejection(deaf.startThread(at.free).run("x".repeat(1_000_000)));
    expect(error.message).toBe("Codex Exec exited with code 5: ");
  });

  it("reports the details of a failed turn as the cause", async () => {
    await using at = await stage([]);
    const error = await rejection(at.codex.startThread(at.free).run("hi"));
    expect(String(error)).toMatch(/^Error: .*script_exhausted/);
    expect(error.cause).toBeInstanceOf(TurnFailedError);
    expect(error.reason).toBe("turn_failed");
  });

  it("is replaced if it crashed between two turns", async () => {
    await using at = await stage(() => "hello");
    const thread = at.codex.startThread(at.free);
    await thread.run("one");
    await closeServers();
    expect((await thread.run("two")).finalResponse).toBe("hello");
  });
});

describe("the shared codex", () => {
  it("is used by all threads with the same options", async () => {
    await using at = await stage(({ lastUserText, input }) =>
      input.some(({ type }) => type === "function_call_output")
        ? "done"
        : run(`echo $PPID >> ${lastUserText}; cat ${lastUserText}`),
    );
    const file = join(at.root, "parents");
    await Promise.all([1, 2].map(() => at.codex.startThread(at.free).run(file)));
    await new Codex(at.options).startThread(at.free).run(file);
    const parents = (await readFile(file, "utf8")).trim().split("\n");
    expect(parents).toHaveLength(3);
    expect(new Set(parents).size).toBe(1);
  });

  it("lets a thread continue in another environment", async () => {
    await using at = await stage(({ lastUserText, input }) =>
      input.at(-1)?.type === "function_call_output" ? "done" : run(`echo ${lastUserText} $COLOUR`),
    );
    const thread = at.codex.startThread(at.free);
    await thread.run("first");
    const red = new Codex({ ...at.options, env: { ...at.options.env, COLOUR: "red" } });
    const { items } = await red.resumeThread(thread.id ?? "", at.free).run("second");
    expect(items.find(({ type }) => type === "command_execution")).toMatchObject({
      aggregated_output: "second red\n",
    });
  });

  it("runs two turns of one thread sequentially, where the original fails one", async () => {
    await using at = await stage(({ lastUserText }) => `heard ${lastUserText}`);
    const thread = at.codex.startThread(at.free);
    await thread.run("zero");
    const turns = await Promise.all(["one", "two"].map((text) => thread.run(text)));
    expect(turns.map(({ finalResponse }) => finalResponse)).toEqual(["heard one", "heard two"]);
    expect(turns[1]?.usage?.input_tokens).toBe(30);
  });

  it("does not send a turn to the model that was aborted while waiting", async () => {
    const go = gate();
    await using at = await stage(({ lastUserText }) =>
      lastUserText === "slow" ? [say(["a", waitFor(go), "b"])] : "quick",
    );
    const thread = at.codex.startThread(at.free);
    await thread.run("zero");
    const slow = thread.run("slow");
    const stop = new AbortController();
    const waiting = thread.run("never", { signal: stop.signal });
    await at.model.waitForRequests(2);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError", code: "ABORT_ERR" });
    go.open();
    expect((await slow).finalResponse).toBe("ab");
    expect((await thread.run("after")).finalResponse).toBe("quick");
    expect(at.model.requests.map(({ lastUserText }) => lastUserText)).toEqual(["zero", "slow", "after"]);
  });

  it("ends the agents that a turn left running", async () => {
    const [begun, never] = [gate(), gate()];
    const isAgent = ({ headers }: ScriptRequest): boolean =>
      String(headers["x-codex-turn-metadata"]).includes('"agent_name":"/root/helper"');
    await using at = await stage((request) => {
      if (isAgent(request)) {
        begun.open();
        return [say(["a", waitFor(never), "b"])];
      }
      const asked = request.input.some(({ type }) => type.endsWith("_output"));
      const ask = { task_name: "helper", message: "help" };
      return asked
        ? [waitFor(begun), say("done")]
        : callTool("spawn_agent", ask, { namespace: "collaboration" });
    }, "gpt-6.1-sol");
    await at.codex.startThread(at.free).run("ask for help");
    expect(await at.model.requests.find(isAgent)?.ended).toBe("abandoned");
  });

  it("runs a turn whose approval policy the server no longer accepts", async () => {
    await using at = await stage(() => "ok");
    for (const approvalPolicy of ["untrusted", "on-failure"] as const) {
      const { finalResponse } = await at.codex.startThread({ ...at.free, approvalPolicy }).run("hi");
      expect(finalResponse).toBe("ok");
    }
  });
});
