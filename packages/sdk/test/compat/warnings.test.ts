// Warnings about the configuration, shown as items of type `error`.
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { differential } from "./differential.ts";
import { warnings, watch } from "./program.ts";

differential("warnings", {
  "a deprecated setting": {
    script: ["one", "two"],
    run: async ({ codex, workspace }) => {
      const config = { features: { web_search_request: true } };
      const thread = codex({ config }).startThread({ workingDirectory: workspace });
      return [await watch(thread, "hi"), await watch(thread, "more")];
    },
  },

  "a deprecated setting and an API key": {
    script: () => "done",
    run: async ({ codex, workspace }) => {
      const config = { features: { web_search_request: true } };
      return watch(codex({ apiKey: "sk-test", config }).startThread({ workingDirectory: workspace }), "hi");
    },
  },
  "a model that codex does not know": {
    script: () => "done",
    run: async ({ codex, workspace }) => {
      const thread = codex().startThread({ workingDirectory: workspace, model: "unknown-model" });
      return [await watch(thread, "hi"), await watch(thread, "more")];
    },
  },
  "unknown settings and features": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, codexHome }) => {
      const config = { features: { no_such_feature: true }, no_such_setting: 1 };
      const given = await watch(codex({ config }).startThread({ workingDirectory: workspace }), "hi");
      await appendFile(
        join(codexHome, "config.toml"),
        "no_such_setting = 1\nfeatures.no_such_feature = true\n",
      );
      return { given, stored: await watch(codex().startThread({ workingDirectory: workspace }), "hi") };
    },
  },
  "a warning for two turns at once": {
    script: () => "done",
    run: async ({ codex, workspace }) => {
      const shared = codex({ config: { features: { web_search_request: true } } });
      const threads = ["a", "b"].map(() => shared.startThread({ workingDirectory: workspace }));
      return Promise.all(threads.map((thread) => warnings(thread)));
    },
  },
  "the configuration of a project that is not trusted": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, model }) => {
      await mkdir(join(workspace, ".codex"));
      await writeFile(join(workspace, ".codex/config.toml"), 'model = "gpt-5.4"\n');
      const turn = await watch(codex().startThread({ workingDirectory: workspace }), "hi");
      return { turn, model: model.requests[0]?.body["model"] };
    },
  },
  "the configuration of a trusted project": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, codexHome, model }) => {
      await mkdir(join(workspace, ".codex"));
      await writeFile(
        join(workspace, ".codex/config.toml"),
        'model = "gpt-5.4"\nmodel_provider = "openai"\nfeatures.web_search_request = true\n',
      );
      await appendFile(
        join(codexHome, "config.toml"),
        `[projects.${JSON.stringify(workspace)}]\ntrust_level = "trusted"\n`,
      );
      const turn = await watch(codex().startThread({ workingDirectory: workspace }), "hi");
      return { turn, model: model.requests[0]?.body["model"] };
    },
  },
  "an MCP server that does not start": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace }) => {
      const server = { command: "/nowhere/server" };
      const optional = codex({ config: { mcp_servers: { gone: server } } });
      const required = codex({ config: { mcp_servers: { gone: { ...server, required: true } } } });
      return [
        await watch(optional.startThread({ workingDirectory: workspace }), "hi"),
        await watch(required.startThread({ workingDirectory: workspace }), "hi"),
      ];
    },
  },
});
