// Resumed threads.
import { Codex } from "codexkit";
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ThreadOptions } from "../../src/compat/index.ts";
import { differential } from "./differential.ts";
import { setting, type Stage, userTexts, watch, withCertificates } from "./program.ts";

differential("threads that are resumed", {
  "a thread that another object continues": {
    script: ["one", "two"],
    run: async ({ codex, workspace, model }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      await thread.run("first");
      const again = codex().resumeThread(thread.id ?? "", { workingDirectory: workspace });
      const before = again.id === thread.id;
      const turn = await watch(again, "second");
      return { before, turn, modelInput: userTexts(model.requests[1]) };
    },
  },
  "other options for the same thread": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, model }) => {
      const first = codex().startThread({ workingDirectory: workspace });
      await first.run("hi");
      const setups: ThreadOptions[] = [
        { model: "gpt-5.4", modelReasoningEffort: "low" },
        { sandboxMode: "danger-full-access" },
        // Not the sandbox of the previous turn.
        {},
        { sandboxMode: "read-only", modelReasoningEffort: "high", webSearchMode: "live" },
        {},
      ];
      for (const setup of setups) {
        const thread = codex().resumeThread(first.id ?? "", { workingDirectory: workspace, ...setup });
        await thread.run("more");
      }
      return model.requests.map((request) => setting(request));
    },
  },

  "a thread resumed without its model": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, model }) => {
      const first = codex().startThread({ workingDirectory: workspace, model: "gpt-5.4" });
      await first.run("hi");
      const turns = [];
      for (let turn = 0; turn < 2; turn += 1) {
        turns.push(
          await watch(codex().resumeThread(first.id ?? "", { workingDirectory: workspace }), "more"),
        );
      }
      return { turns, models: model.requests.map(({ body }) => body["model"]) };
    },
  },
  "a thread resumed where no model is configured": {
    script: () => "done",
    modelName: "",
    run: async ({ codex, base, workspace, model }) => {
      const config = { model_provider: "openai" };
      const env = withCertificates(base.env);
      const options = { baseUrl: model.url, apiKey: "sk-test", config, env };
      const first = codex(options).startThread({ workingDirectory: workspace, model: "gpt-5.4" });
      await first.run("hi");
      const again = codex(options).resumeThread(first.id ?? "", { workingDirectory: workspace });
      const { end } = await watch(again, "more");
      return { end, changed: model.requests[1]?.body["model"] !== "gpt-5.4" };
    },
  },
  "a thread resumed where its provider has no default model": {
    script: () => "done",
    modelName: "",
    run: async ({ codex, workspace, model }) => {
      const first = codex().startThread({ workingDirectory: workspace, model: "gpt-5.4" });
      await first.run("hi");
      const turn = await watch(codex().resumeThread(first.id ?? "", { workingDirectory: workspace }), "more");
      return { turn, models: model.requests.map(({ body }) => body["model"]) };
    },
  },
  "a thread resumed with another model and effort": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, model }) => {
      const first = codex().startThread({ workingDirectory: workspace, modelReasoningEffort: "high" });
      await first.run("hi");
      const options = { workingDirectory: workspace, model: "gpt-5.4" };
      const turn = await watch(codex().resumeThread(first.id ?? "", options), "more");
      return { turn, modelInput: model.requests.map(({ body }) => [body["model"], body["reasoning"]]) };
    },
  },
  "a thread resumed in another folder": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, root, model }) => {
      const first = codex().startThread({ workingDirectory: workspace });
      await first.run("hi");
      const other = join(root, "other");
      await mkdir(other);
      const thread = codex().resumeThread(first.id ?? "", {
        workingDirectory: other,
        skipGitRepoCheck: true,
      });
      const { events, end } = await watch(thread, "more");
      return { events, end, modelInput: userTexts(model.requests[1]) };
    },
  },
  "unknown thread names": {
    script: () => "done",
    run: async ({ codex, workspace, model }) => {
      const options = { workingDirectory: workspace };
      const turns = [];
      for (const id of ["no-such-name", ""]) {
        const thread = codex().resumeThread(id, options);
        const before = thread.id;
        const { end } = await watch(thread, "hi");
        turns.push({ before, end, changed: thread.id !== before });
      }
      return { turns, requests: model.requests.length };
    },
  },
  "a thread after a turn that was aborted": {
    script: ({ lastUserText }) => `You said ${lastUserText}`,
    run: async ({ codex, workspace, model }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      await thread.run("one");
      const stop = new AbortController();
      const aborted = await watch(thread, "two", { signal: stop.signal }, ({ type }) => {
        if (type === "thread.started") stop.abort();
      });
      const after = await thread.run("three");
      const last = userTexts(model.requests.at(-1));
      return {
        aborted: aborted.end,
        after: after.finalResponse,
        heard: JSON.stringify(last).includes("three"),
      };
    },
  },
  "a thread that another program has open": {
    script: () => "done",
    run: async (stage) => {
      const { codex, workspace } = stage;
      const thread = codex().startThread({ workingDirectory: workspace });
      await thread.run("hi");
      await using other = await Codex.launch({
        codexPath: stage.base.codexPathOverride,
        env: stage.base.env,
        inheritEnv: false,
      });
      await other.resumeThread(thread.id ?? "");
      return await watch(thread, "more");
    },
  },
  "a thread that codex exec continues at once, and then the program again": {
    script: ({ lastUserText }) => `You said ${lastUserText}`,
    run: async (stage) => {
      const thread = stage.codex().startThread({ workingDirectory: stage.workspace });
      const turns = [await thread.run("one")];
      const shown: string[] = [];
      for (const text of ["two", "four"]) {
        shown.push(await execResume(stage, thread.id ?? "", text));
        turns.push(await thread.run("on"));
      }
      return { shown, turns };
    },
  },
  "a thread that codex exec started": {
    script: ({ lastUserText }) => `You said ${lastUserText}`,
    run: async (stage) => {
      const { codexPathOverride, env } = stage.base;
      const args = ["exec", "--json", "--cd", stage.workspace, "one"];
      const running = promisify(execFile)(codexPathOverride, args, { env });
      running.child.stdin?.end();
      const { stdout } = await running;
      const id = /"thread_id":"(?<id>[^"]+)"/.exec(stdout)?.groups?.["id"] ?? "";
      return stage.codex().resumeThread(id, { workingDirectory: stage.workspace }).run("two");
    },
  },
});

/** The response of `codex exec resume`. */
async function execResume({ base, workspace }: Stage, threadId: string, text: string): Promise<string> {
  const args = ["exec", "--json", "--cd", workspace, "resume", threadId, text];
  const running = promisify(execFile)(base.codexPathOverride, args, { env: base.env });
  running.child.stdin?.end();
  const { stdout } = await running;
  return /"text":"(?<text>[^"]+)"/.exec(stdout)?.groups?.["text"] ?? stdout;
}
