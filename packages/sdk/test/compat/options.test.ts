// The options of a `Codex`, a thread and a turn.
import { run } from "@codexkit/scripted-model";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { ThreadOptions } from "../../src/compat/index.ts";
import { differential } from "./differential.ts";
import { outputs, setting, watch, withCertificates } from "./program.ts";

differential("options", {
  "every option of a thread": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, root, model }) => {
      const modelInput: unknown[] = [];
      const setups: ThreadOptions[] = [
        {},
        { sandboxMode: "workspace-write", networkAccessEnabled: true },
        { sandboxMode: "workspace-write", additionalDirectories: [root, "below"] },
        { sandboxMode: "danger-full-access", approvalPolicy: "on-request", threadSource: "mine" },
        { webSearchMode: "live", modelReasoningEffort: "low" },
        { webSearchEnabled: false, model: "gpt-5.4" },
      ];
      for (const setup of setups) {
        await codex()
          .startThread({ workingDirectory: workspace, ...setup })
          .run("hi");
        modelInput.push(setting(model.requests.at(-1)));
      }
      return modelInput;
    },
  },

  "settings given twice, of which the last counts": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, model }) => {
      const thread = { workingDirectory: workspace };
      await codex({ config: { model: "gpt-5.4" }, configOverrides: ['model="gpt-5.2"'] })
        .startThread(thread)
        .run("hi");
      await codex({ config: { model: "gpt-5.4", model_reasoning_effort: "high" } })
        .startThread({ ...thread, model: "gpt-5.2", modelReasoningEffort: "low" })
        .run("hi");
      return model.requests.map(({ body }) => [body["model"], body["reasoning"]]);
    },
  },
  "nested settings, lists and names that need quotes": {
    script: ({ input }) =>
      input.at(-1)?.type === "function_call_output"
        ? "done"
        : run('echo "$COLOUR_A, $COLOUR_B, $SSL_CERT_FILE"'),
    run: async ({ codex, workspace, model }) => {
      const config = {
        shell_environment_policy: {
          set: { COLOUR_A: 'a "red" one', COLOUR_B: "back\\slash" },
          exclude: ["SSL_*"],
        },
      };
      const thread = codex({ config }).startThread({
        workingDirectory: workspace,
        sandboxMode: "danger-full-access",
      });
      await thread.run("hi");
      return String(outputs(model.requests.at(-1)).at(-1))
        .split("Output:")
        .at(-1);
    },
  },
  "settings that can't be written": {
    script: [],
    run: async ({ codex, workspace }) => {
      const configs: unknown[] = [
        { model: null },
        { model: Number.NaN },
        { a: { "": 1 } },
        { list: [1, () => 2] },
        [1],
      ];
      const ends: unknown[] = [];
      for (const config of configs) {
        const thread = codex({ config: config as never }).startThread({ workingDirectory: workspace });
        ends.push((await watch(thread, "hi")).end);
      }
      return ends;
    },
  },
  "a base URL and a key": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, base, workspace, model }) => {
      const config = { model_provider: "openai" };
      const env = withCertificates(base.env);
      const thread = codex({ baseUrl: model.url, apiKey: "sk-test", config, env }).startThread({
        workingDirectory: workspace,
      });
      const { finalResponse } = await thread.run("hi");
      return [finalResponse, model.requests.map(({ headers }) => headers["authorization"])];
    },
  },
  "which web search is used when two options name one": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, model }) => {
      const setups: ThreadOptions[] = [
        { webSearchEnabled: true },
        { webSearchMode: "cached" },
        { webSearchMode: "disabled", webSearchEnabled: true },
      ];
      for (const setup of setups) {
        await codex()
          .startThread({ workingDirectory: workspace, ...setup })
          .run("hi");
      }
      return model.requests.map(({ body }) =>
        (body["tools"] as { type: string }[]).filter(({ type }) => type.startsWith("web_search")),
      );
    },
  },
  "approval policies": {
    script: ({ input }) =>
      input.at(-1)?.type === "function_call_output" ? "done" : run("echo hi", { escalate: "for a reason" }),
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, model }) => {
      const modelInput: unknown[] = [];
      for (const approvalPolicy of ["never", "on-request", "on-failure"] as const) {
        await codex().startThread({ workingDirectory: workspace, approvalPolicy }).run("hi");
        modelInput.push(outputs(model.requests.at(-1)));
      }
      return modelInput;
    },
  },
  "folders that the agent may write to": {
    script: ({ input, lastUserText }) =>
      input.at(-1)?.type === "function_call_output" ? "done" : run(lastUserText),
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, root, model }) => {
      const [open, closed] = [join(root, "open"), join(root, "closed")];
      for (const folder of [open, closed]) await mkdir(folder);
      const thread = codex().startThread({
        workingDirectory: workspace,
        sandboxMode: "workspace-write",
        additionalDirectories: [open],
      });
      const modelInput: unknown[] = [];
      for (const folder of [workspace, open, closed]) {
        await thread.run(`echo x > ${folder}/file && echo written`);
        modelInput.push(
          outputs(model.requests.at(-1)).length,
          /written/.test(String(outputs(model.requests.at(-1)).at(-1))),
        );
      }
      return modelInput;
    },
  },
  "cyber access programs": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, model }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      const ends: unknown[] = [];
      for (const cyberAccessProgram of ["standard", "daybreak_blue", "daybreak_red"] as const) {
        ends.push((await watch(thread, "hi", { cyberAccessProgram })).end);
      }
      return [
        ends,
        model.requests.map(({ body, headers }) => [
          headers["x-codex-turn-metadata"] !== undefined,
          JSON.stringify(body).includes("daybreak"),
        ]),
      ];
    },
  },
  "working folders: relative, linked, and a file": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, root, model }) => {
      const link = join(root, "link");
      await symlink(workspace, link);
      const file = join(root, "file");
      await writeFile(file, "");
      const ends: unknown[] = [];
      for (const workingDirectory of [relative(process.cwd(), workspace), link, file]) {
        ends.push((await watch(codex().startThread({ workingDirectory }), "hi")).end);
      }
      return [ends, model.requests.map((request) => setting(request))];
    },
  },
  "empty options": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, model }) => {
      const empty = { model: "", threadSource: "", additionalDirectories: [] };
      const { end } = await watch(
        codex({ baseUrl: "", apiKey: "", config: {}, configOverrides: [] }).startThread({
          workingDirectory: workspace,
          ...empty,
        }),
        "hi",
      );
      return [end, model.requests.map((request) => setting(request))];
    },
  },
});
