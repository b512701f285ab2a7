// Files that change between two turns of a thread.
import { run } from "@codexkit/scripted-model";
import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { differential } from "./differential.ts";
import { outputs, type Request, setting, type Stage, userTexts, warnings } from "./program.ts";

/** The parts of a request that are not in the previous one. */
function added({ model }: Stage): unknown {
  const [before, last] = model.requests.slice(-2);
  const known = new Set(userTexts(before).map((text) => JSON.stringify(text)));
  return userTexts(last).filter((text) => !known.has(JSON.stringify(text)));
}

function instructions(request: Request | undefined): unknown {
  const texts = (request?.input ?? []).filter(({ role }) => role === "developer");
  return JSON.stringify(texts).match(/Speak \w+/g);
}

differential("edits between turns", {
  "AGENTS.md written, changed and deleted": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async (stage) => {
      const { codex, workspace } = stage;
      const thread = codex().startThread({ workingDirectory: workspace });
      await thread.run("hi");
      const path = join(workspace, "AGENTS.md");
      const seen: unknown[] = [];
      for (const text of ["Speak French", "Speak German"]) {
        await writeFile(path, text);
        await thread.run("more");
        seen.push(added(stage));
      }
      await rm(path);
      await thread.run("more");
      return [...seen, added(stage)];
    },
  },
  "AGENTS.md in the home, and a new thread": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async (stage) => {
      const { codex, workspace, codexHome, model } = stage;
      const seen: unknown[] = [];
      for (const text of ["Speak French", "Speak German"]) {
        await writeFile(join(codexHome, "AGENTS.md"), text);
        await codex().startThread({ workingDirectory: workspace }).run("hi");
        seen.push(JSON.stringify(userTexts(model.requests.at(-1))).match(/Speak \w+/g));
      }
      return seen;
    },
  },
  "another model in config.toml": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, codexHome, model }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      await thread.run("hi");
      const path = join(codexHome, "config.toml");
      await writeFile(path, (await readFile(path, "utf8")).replace("gpt-5.5", "gpt-5.4"));
      const shown = [await warnings(thread, "more"), await warnings(thread, "more")];
      return { shown, models: model.requests.map(({ body }) => body["model"]) };
    },
  },
  "another sandbox and other instructions in config.toml": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, codexHome, model }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      await thread.run("hi");
      const path = join(codexHome, "config.toml");
      const before = await readFile(path, "utf8");
      for (const words of ["French", "German"]) {
        const lines = [`developer_instructions = "Speak ${words}"`, 'sandbox_mode = "danger-full-access"'];
        await writeFile(path, `${lines.join("\n")}\n${before}`);
        await thread.run("more");
      }
      await writeFile(path, before);
      await thread.run("more");
      return model.requests.map((request) => [instructions(request), setting(request)]);
    },
  },
  "a deprecated setting that comes and goes in config.toml": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, codexHome }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      const path = join(codexHome, "config.toml");
      const before = await readFile(path, "utf8");
      const seen = [await warnings(thread)];
      await appendFile(path, "features.web_search_request = true\nno_such_setting = 1\n");
      seen.push(await warnings(thread), await warnings(thread));
      await writeFile(path, before);
      return [...seen, await warnings(thread)];
    },
  },
  "a project's configuration that comes and goes": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, codexHome, model }) => {
      await appendFile(
        join(codexHome, "config.toml"),
        `[projects.${JSON.stringify(workspace)}]\ntrust_level = "trusted"\n`,
      );
      const thread = codex().startThread({ workingDirectory: workspace });
      const seen = [await warnings(thread)];
      await mkdir(join(workspace, ".codex"));
      await writeFile(
        join(workspace, ".codex/config.toml"),
        'model = "gpt-5.4"\nmodel_provider = "openai"\n',
      );
      seen.push(await warnings(thread));
      await rm(join(workspace, ".codex"), { recursive: true });
      seen.push(await warnings(thread));
      return { seen, models: model.requests.map(({ body }) => body["model"]) };
    },
  },
  "another key in auth.json": {
    script: () => "done",
    run: async ({ codex, workspace, codexHome, model }) => {
      const config = { model_providers: { scripted: { requires_openai_auth: true } } };
      const seen: unknown[] = [];
      const thread = codex({ config }).startThread({ workingDirectory: workspace });
      for (const OPENAI_API_KEY of ["sk-one", "sk-two"]) {
        await writeFile(
          join(codexHome, "auth.json"),
          JSON.stringify({ auth_mode: "apikey", OPENAI_API_KEY }),
        );
        await thread.run("hi");
        seen.push(model.requests.at(-1)?.headers["authorization"]);
      }
      return seen;
    },
  },
  "a skill that is added": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, codexHome, model }) => {
      const options = { workingDirectory: workspace };
      const thread = codex().startThread(options);
      await thread.run("hi");
      const folder = join(codexHome, "skills/juggling");
      await mkdir(folder, { recursive: true });
      await writeFile(
        join(folder, "SKILL.md"),
        "---\nname: juggling\ndescription: Keeps balls in the air.\n---\nThrow.\n",
      );
      await thread.run("more");
      await codex().startThread(options).run("hi");
      return model.requests.map(({ input }) => JSON.stringify(input).includes("Keeps balls in the air"));
    },
  },
  "rules that allow a command": {
    script: ({ input }) =>
      input.at(-1)?.type === "function_call_output" ? "done" : run("echo hi", { escalate: "for a reason" }),
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, codexHome, model }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      const seen: unknown[] = [];
      await mkdir(join(codexHome, "rules"));
      for (const decision of ["forbidden", "allow"]) {
        const rule = `prefix_rule(pattern=["echo"], decision="${decision}")\n`;
        await writeFile(join(codexHome, "rules/default.rules"), rule);
        await thread.run("hi");
        seen.push(String(outputs(model.requests.at(-1)).at(-1)).replace(/Wall time.*/, ""));
      }
      return seen;
    },
  },
});
