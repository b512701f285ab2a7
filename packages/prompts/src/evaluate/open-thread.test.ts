// Threads of evaluations on the real codex: reuse, approvals, options, concurrency.
import { callTool, run, say, type Script, usage } from "@codexkit/scripted-model";
import { launchCodex } from "@codexkit/testing";
import { Codex } from "codexkit";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  Budget,
  definePrompt,
  definePromptTool,
  defineSlice,
  evaluate,
  on,
  openWorkspace,
  type PromptThreadOptions,
  PromptSession,
  ToolInvoked,
} from "../index.ts";

const launch = (model: Script) => launchCodex({ model, modelName: "gpt-5.5", modelRetries: 0 });

const prompt = definePrompt({
  ns: "test",
  key: "threads",
  sections: [{ key: "task", title: "Task", render: "Do it." }],
}).bind();

describe("reuse", () => {
  test("continues the session's thread while folder, content and tools are the same", async () => {
    await using setup = await launch(() => "Done.");
    await using workspace = openWorkspace();
    const session = new PromptSession();
    const options = { session, workspace, thread: { reuse: true } };

    const first = await evaluate(setup.codex, prompt, options);
    const second = await evaluate(setup.codex, prompt, {
      ...options,
      session: PromptSession.fromJSON(JSON.stringify(session)),
    });
    workspace.writeText("new.txt", "content");
    const third = await evaluate(setup.codex, prompt, options);

    expect(second.threadId).toBe(first.threadId);
    expect(third.threadId).not.toBe(first.threadId);
  });

  test("starts a new thread if the old one can't be resumed, with a warning", async () => {
    await using setup = await launch(() => "Done.");
    const session = new PromptSession();
    const options = { session, thread: { reuse: true, cwd: setup.workspace } };
    const first = await evaluate(setup.codex, prompt, options);
    await setup.codex.deleteThread(first.threadId);

    const evaluation = evaluate(setup.codex, prompt, options);
    const warnings = (await Array.fromAsync(evaluation)).filter(({ type }) => type === "warning");

    expect((await evaluation).threadId).not.toBe(first.threadId);
    expect(warnings).toMatchObject([{ message: expect.stringContaining(first.threadId) as string }]);
  });

  test.for<[string, PromptThreadOptions, PromptThreadOptions]>([
    ["sandbox", { sandbox: "danger-full-access" }, { sandbox: "read-only" }],
    ["sandbox that is left out", { sandbox: "danger-full-access" }, {}],
    ["model", { model: "gpt-5.5" }, { model: "gpt-5.4" }],
    ["environment", { env: { A: "1" } }, { env: { A: "2" } }],
    ["approval policy", {}, { approvalPolicy: "on-request" }],
    ["network access", { network: true }, { network: false }],
    ["configuration", {}, { config: { model_verbosity: "high" } }],
  ])("starts a new thread for another %s", async ([, before, after]) => {
    await using setup = await launch(() => "Done.");
    const session = new PromptSession();
    const common = { reuse: true, cwd: setup.workspace };
    const first = await evaluate(setup.codex, prompt, { session, thread: { ...common, ...before } });
    const second = await evaluate(setup.codex, prompt, { session, thread: { ...common, ...after } });
    const third = await evaluate(setup.codex, prompt, { session, thread: { ...common, ...after } });

    expect(second.threadId).not.toBe(first.threadId);
    expect(third.threadId).toBe(second.threadId);
  });

  test("keeps the settings of a thread that another codex started", async () => {
    await using first = await launch(() => "Done.");
    const session = new PromptSession();
    const options = {
      session,
      thread: { reuse: true, cwd: first.workspace, sandbox: "workspace-write", env: { A: "kept" } } as const,
    };
    const { threadId } = await evaluate(first.codex, prompt, options);
    await first.codex.close();
    await using second = await Codex.launch(first.launchOptions);
    first.model.play([run("echo $A > made.txt", { callId: "make" }), "Done."]);

    expect((await evaluate(second, prompt, options)).threadId).toBe(threadId);
    expect(readFileSync(join(first.workspace, "made.txt"), "utf8")).toBe("kept\n");
  });

  test("continues after the agent's own changes", async () => {
    await using setup = await launch([run("echo 1 > made.txt"), "Done.", "Done."]);
    await using workspace = openWorkspace();
    const options = {
      session: new PromptSession(),
      workspace,
      thread: { reuse: true, sandbox: "workspace-write" },
    } as const;
    const first = await evaluate(setup.codex, prompt, options);
    expect(workspace.exists("made.txt")).toBe(true);
    expect((await evaluate(setup.codex, prompt, options)).threadId).toBe(first.threadId);
  });

  test("checks that the model of the continued thread has a price", async () => {
    await using setup = await launch(() => "Done.");
    const options = { session: new PromptSession(), thread: { reuse: true, cwd: setup.workspace } };
    await evaluate(setup.codex, prompt, options);
    const budget = new Budget({ usd: 1, prices: { other: { inputPerMillion: 1, outputPerMillion: 1 } } });
    await expect(evaluate(setup.codex, prompt, { ...options, budget }).result()).rejects.toMatchObject({
      code: "invalid_option",
    });
  });

  test("closes a thread that can't be used", async () => {
    await using setup = await launch([]);
    const budget = new Budget({ usd: 1, prices: { other: { inputPerMillion: 1, outputPerMillion: 1 } } });
    const loaded = async () => (await setup.codex.request("thread/loaded/list", {})).data;
    const thread = { cwd: setup.workspace, config: { thread_unload_delay_secs: 0 } };
    await expect(evaluate(setup.codex, prompt, { thread, budget }).result()).rejects.toMatchObject({
      code: "invalid_option",
    });
    await expect.poll(loaded).toEqual([]);
  });
});

test("a reducer that throws on an event of Codex fails the evaluation, which closes its thread", async () => {
  await using setup = await launch([run("true"), "Done."]);
  const schema = z.number();
  const reject = (): number => {
    throw new Error("no room");
  };
  const counted = defineSlice({ name: "counted", schema, initial: 0, reducers: [on(ToolInvoked, reject)] });
  const session = new PromptSession({ slices: [counted] });
  const thread = { cwd: setup.workspace, config: { thread_unload_delay_secs: 0 } };
  const failed = evaluate(setup.codex, prompt, { session, thread }).result();
  await expect(failed).rejects.toThrow("no room");
  const loaded = async () => (await setup.codex.request("thread/loaded/list", {})).data;
  await expect.poll(loaded).toEqual([]);
});

describe("approvals", () => {
  const model: Script = [run("touch approved.txt", { escalate: "needs it" }), "Done."];

  test("on-request goes to the handler", async () => {
    await using setup = await launch(model);
    await using workspace = openWorkspace();
    await evaluate(setup.codex, prompt, {
      workspace,
      thread: {
        sandbox: "read-only",
        approvalPolicy: "on-request",
        handlers: { commandApproval: () => "accept" },
      },
    });
    expect(workspace.exists("approved.txt")).toBe(true);
  });

  test.for(["on-request", "untrusted"] as const)(
    "%s without a handler is declined",
    async (approvalPolicy) => {
      await using setup = await launch(model);
      await using workspace = openWorkspace();
      await evaluate(setup.codex, prompt, {
        workspace,
        thread: { sandbox: "read-only", approvalPolicy },
      });
      expect(workspace.exists("approved.txt")).toBe(false);
    },
  );

  test("untrusted asks about a command inside the sandbox too, which on-request does not", async () => {
    const asked: string[] = [];
    for (const approvalPolicy of ["untrusted", "on-request"] as const) {
      await using setup = await launch([run("touch made.txt"), "Done."]);
      await using workspace = openWorkspace();
      await evaluate(setup.codex, prompt, {
        workspace,
        thread: {
          sandbox: "workspace-write",
          approvalPolicy,
          handlers: {
            commandApproval: () => {
              asked.push(approvalPolicy);
              return "accept";
            },
          },
        },
      });
      expect(workspace.exists("made.txt")).toBe(true);
    }
    expect(asked).toEqual(["untrusted"]);
  });

  test("never is sent unchanged: the handler is not asked, and forbidden commands fail in the sandbox", async () => {
    await using setup = await launch([run("touch made.txt"), "Done."]);
    await using workspace = openWorkspace();
    const asked: unknown[] = [];
    await evaluate(setup.codex, prompt, {
      workspace,
      thread: {
        sandbox: "read-only",
        approvalPolicy: "never",
        handlers: {
          commandApproval: (approval) => {
            asked.push(approval);
            return "accept";
          },
        },
      },
    });
    expect(asked).toEqual([]);
    expect(workspace.exists("made.txt")).toBe(false);
  });
});

describe("options", () => {
  const codex = undefined as never;

  test.for([
    ["on-failure", { thread: { approvalPolicy: "on-failure" } }, /on-failure/],
    ["an unknown policy", { thread: { approvalPolicy: "sometimes" } }, /sometimes/],
    ["ephemeral with reuse", { thread: { ephemeral: true, reuse: true } }, /ephemeral/],
    ["seed", { seed: 1 }, /seed/],
    ["stop", { thread: { stop: ["x"] } }, /stop/],
    ["an unknown sandbox", { thread: { sandbox: "rw" } }, /sandbox/],
    ["an unknown summary", { thread: { summary: "long" } }, /summary/],
    ["a model that is no string", { thread: { model: 5 } }, /model/],
    ["an environment with a number", { thread: { env: { A: 1 } } }, /env/],
    ["an environment with a wrong name", { thread: { env: { "A=B": "" } } }, /env/],
    ["an environment that is a list", { thread: { env: [] } }, /env/],
    ["reuse that is no boolean", { thread: { reuse: 1 } }, /reuse/],
    ["ephemeral that is no boolean", { thread: { ephemeral: "no" } }, /ephemeral/],
    ["a configuration that is a list", { thread: { config: [] } }, /config/],
  ] as const)("%s is rejected", ([, options, message]) => {
    expect(() => evaluate(codex, prompt, options as never)).toThrow(message);
  });

  test("a prompt without bind() is rejected, and so is a missing Codex", () => {
    const definition = definePrompt({ ns: "a", key: "b", sections: [{ key: "c", title: "C", render: "" }] });
    const someCodex = { startThread: () => {} } as never;
    for (const unbound of [definition, "Say hello.", null, undefined])
      expect(() => evaluate(someCodex, unbound as never)).toThrow(/bind\(\)/);
    expect(() => evaluate(codex, prompt)).toThrow(/must be a Codex/);
  });

  test("an MCP server with the name of a tool is rejected", async () => {
    await using setup = await launch(["Done."]);
    const tool = definePromptTool({
      name: "search",
      description: "s",
      input: z.strictObject({}),
      handler: () => "",
    });
    const withTool = definePrompt({
      ns: "test",
      key: "clash",
      sections: [{ key: "task", title: "Task", render: "" }],
      tools: [tool],
    }).bind();
    const mcpServers = { search: { command: "true" } };
    await expect(evaluate(setup.codex, withTool, { thread: { mcpServers } }).result()).rejects.toMatchObject({
      code: "invalid_option",
    });
  });
});

describe("concurrency", () => {
  test("evaluations on one codex have their own sessions, threads and results", async () => {
    await using setup = await launch(({ lastUserText }) => lastUserText.match(/number \d+/)?.[0] ?? "?");
    const numbered = definePrompt({
      ns: "test",
      key: "numbered",
      params: z.object({ number: z.int() }),
      sections: [{ key: "task", title: "Task", render: ({ number }) => `Say number ${number}.` }],
    });
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, number) =>
        evaluate(setup.codex, numbered.bind({ number }), { thread: { cwd: setup.workspace } }).result(),
      ),
    );
    expect(results.map(({ text }) => text)).toEqual(
      Array.from({ length: 8 }, (_, number) => `number ${number}`),
    );
    expect(new Set(results.map(({ threadId }) => threadId)).size).toBe(8);
  });

  test("a shared budget stops every evaluation that uses it", async () => {
    await using setup = await launch(() => [say("Done."), usage({ input: 600, output: 1 })]);
    const budget = new Budget({ totalTokens: 1_000 });
    const options = { budget, thread: { cwd: setup.workspace } };
    await evaluate(setup.codex, prompt, options);
    await evaluate(setup.codex, prompt, options)
      .result()
      .catch(() => {});

    await expect(evaluate(setup.codex, prompt, options).result()).rejects.toMatchObject({
      code: "budget_exceeded",
    });
    expect(setup.model.requests).toHaveLength(2);
  });

  test("a handler can't evaluate in its own session", async () => {
    let refusal: unknown;
    const nested = definePromptTool({
      name: "nested",
      description: "n",
      input: z.strictObject({}),
      handler: (_input, { session }) => {
        try {
          evaluate(setup.codex, prompt, { session });
        } catch (error) {
          refusal = error;
        }
        return "done";
      },
    });
    const outer = definePrompt({
      ns: "test",
      key: "outer",
      sections: [{ key: "task", title: "Task", render: "" }],
      tools: [nested],
    }).bind();
    await using setup = await launch([callTool("nested", {}), "Done."]);
    await evaluate(setup.codex, outer);
    expect(refusal).toMatchObject({ code: "invalid_option" });
  });
});
