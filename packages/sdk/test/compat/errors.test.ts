// Turns that fail, and turns that can't start.
import { cut, fail, run, say } from "@codexkit/scripted-model";
import { appendFile, chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ThreadOptions } from "../../src/compat/index.ts";
import { differential } from "./differential.ts";
import { outcome, watch } from "./program.ts";

differential("errors", {
  "a rejection by the model's endpoint": {
    script: () => fail.http(401),
    run: async ({ codex, workspace }) => {
      const streamed = await watch(codex().startThread({ workingDirectory: workspace }), "hi");
      const ran = await outcome(codex().startThread({ workingDirectory: workspace }).run("hi"));
      return { streamed, ran };
    },
  },
  "an exhausted quota": {
    script: () => fail.response("insufficient_quota"),
    run: ({ codex, workspace }) => watch(codex().startThread({ workingDirectory: workspace }), "hi"),
  },
  "a failure that is retried": {
    script: [fail.http(500), "at last"],
    run: ({ codex, workspace }) => {
      const config = { model_providers: { scripted: { stream_max_retries: 2 } } };
      return watch(codex({ config }).startThread({ workingDirectory: workspace }), "hi");
    },
  },
  "a missing codex": {
    script: [],
    run: async ({ codex, workspace }) => {
      const thread = codex({ codexPathOverride: "/nowhere/codex" }).startThread({
        workingDirectory: workspace,
      });
      return { ran: await outcome(thread.run("hi")), streamed: await watch(thread, "hi") };
    },
  },
  "a folder outside a repository": {
    script: ["worked"],
    run: async ({ codex, root }) => {
      const outside = join(root, "outside");
      await mkdir(outside);
      const refused = await watch(codex().startThread({ workingDirectory: outside }), "hi");
      const options = { workingDirectory: outside, skipGitRepoCheck: true };
      return { refused, allowed: await watch(codex().startThread(options), "hi") };
    },
  },
  "turns that can't run": {
    script: [],
    run: async ({ codex, workspace }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      const unknown = codex().resumeThread("0199a213-81c0-7800-8aa1-bbab2a035a53", {
        workingDirectory: workspace,
      });
      const noProvider = codex({ config: { model_provider: "nowhere" } });
      return {
        empty: await watch(thread, " \n"),
        noFolder: await watch(codex().startThread({ workingDirectory: join(workspace, "missing") }), "hi"),
        noSchema: await watch(thread, "hi", { outputSchema: [] }),
        noThread: await watch(unknown, "hi"),
        noProvider: await watch(noProvider.startThread({ workingDirectory: workspace }), "hi"),
      };
    },
  },

  "failures of the model's endpoint": {
    script: [
      [fail.http(400, { message: "no such thing" })],
      [fail.http(429)],
      [fail.http(500)],
      [fail.response("context_length_exceeded")],
      [fail.response("server_is_overloaded")],
      [fail.response("cyber_policy")],
      [fail.incomplete()],
      [say("half"), cut()],
    ],
    run: async ({ codex, workspace, model }) => {
      const seen: unknown[] = [];
      for (let turn = 0; turn < 8; turn += 1) {
        const { events, end } = await watch(codex().startThread({ workingDirectory: workspace }), "hi");
        seen.push(events.slice(1), end);
      }
      return { seen, requests: model.requests.length };
    },
  },
  "a failure after part of the work": {
    script: [[run("echo hi")], [fail.http(400)], "again"],
    run: async ({ codex, workspace }) => {
      const thread = codex().startThread({
        workingDirectory: workspace,
        sandboxMode: "danger-full-access",
      });
      const failed = await outcome(thread.run("hi"));
      return { failed, after: await outcome(thread.run("more")) };
    },
  },
  "a broken config.toml": {
    script: [],
    run: async ({ codex, workspace, codexHome }) => {
      await writeFile(join(codexHome, "config.toml"), "model = [\n");
      const broken = await watch(codex().startThread({ workingDirectory: workspace }), "hi");
      await writeFile(join(codexHome, "config.toml"), "model = 7\n");
      return { broken, wrong: await watch(codex().startThread({ workingDirectory: workspace }), "hi") };
    },
  },
  "invalid overrides": {
    script: [],
    run: async ({ codex, workspace }) => {
      const ends: unknown[] = [];
      for (const override of ["nonsense", "=1", 'sandbox_mode="nonsense"']) {
        const thread = codex({ configOverrides: [override] }).startThread({ workingDirectory: workspace });
        ends.push((await watch(thread, "hi")).end);
      }
      return ends;
    },
  },
  "option values that codex does not know": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace }) => {
      const wrong = [
        { sandboxMode: "nonsense" },
        { modelReasoningEffort: "nonsense" },
        { approvalPolicy: "nonsense" },
        { webSearchMode: "nonsense" },
        { additionalDirectories: [join(workspace, "missing")] },
      ] as unknown as ThreadOptions[];
      const ends: unknown[] = [];
      for (const options of wrong) {
        const thread = codex().startThread({ workingDirectory: workspace, ...options });
        ends.push((await watch(thread, "hi")).end);
      }
      const program = { cyberAccessProgram: "nonsense" as "standard" };
      ends.push((await watch(codex().startThread({ workingDirectory: workspace }), "hi", program)).end);
      return ends;
    },
  },
  "a codex that can't be run": {
    script: [],
    run: async ({ codex, workspace, root }) => {
      const file = join(root, "codex");
      await writeFile(file, "#!/bin/sh\necho no more space >&2\nexit 7\n");
      const ends: unknown[] = [];
      for (const path of [file, root]) {
        const thread = codex({ codexPathOverride: path }).startThread({ workingDirectory: workspace });
        ends.push((await watch(thread, "hi")).end);
      }
      await chmod(file, 0o755);
      const thread = codex({ codexPathOverride: file }).startThread({ workingDirectory: workspace });
      return [...ends, (await watch(thread, "hi")).end];
    },
  },
  "a codex that is killed in the middle of a turn": {
    script: ({ lastUserText }) => (lastUserText === "die" ? run("kill -9 $PPID; sleep 60") : "alive"),
    run: async ({ codex, workspace }) => {
      const thread = codex().startThread({
        workingDirectory: workspace,
        sandboxMode: "danger-full-access",
      });
      await thread.run("hello");
      const { end } = await watch(thread, "die");
      return { end, after: (await thread.run("and now?")).finalResponse };
    },
  },
  "invalid images": {
    script: () => "seen",
    run: async ({ codex, workspace, root }) => {
      const text = join(root, "text.png");
      await writeFile(text, "no picture");
      const ends: unknown[] = [];
      for (const path of [join(root, "missing.png"), text]) {
        const input = [{ type: "text", text: "look" } as const, { type: "local_image", path } as const];
        ends.push(await watch(codex().startThread({ workingDirectory: workspace }), input));
      }
      return ends;
    },
  },
  "missing keys": {
    script: () => "done",
    run: async ({ codex, workspace }) => {
      const thread = { workingDirectory: workspace };
      const noVariable = { model_providers: { scripted: { env_key: "NO_SUCH_KEY" } } };
      const noLogin = { model_providers: { scripted: { requires_openai_auth: true } } };
      return {
        noVariable: await watch(codex({ config: noVariable }).startThread(thread), "hi"),
        noLogin: await watch(codex({ config: noLogin }).startThread(thread), "hi"),
      };
    },
  },
  "invalid output schemas": {
    script: () => "done",
    run: async ({ codex, workspace }) => {
      const ends: unknown[] = [];
      for (const outputSchema of [null, "text", 7, [{}]]) {
        const thread = codex().startThread({ workingDirectory: workspace });
        ends.push((await watch(thread, "hi", { outputSchema })).end);
      }
      return ends;
    },
  },
  "rules that can't be read": {
    script: () => "done",
    run: async ({ codex, workspace, codexHome }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      const before = (await watch(thread, "hi")).end;
      await mkdir(join(codexHome, "rules"));
      await appendFile(join(codexHome, "rules/default.rules"), "nonsense(\n");
      return { before, after: await watch(thread, "more") };
    },
  },
});
