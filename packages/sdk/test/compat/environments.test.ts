// The environments of codex and of its commands.
import { run, type ScriptFunction } from "@codexkit/scripted-model";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { differential } from "./differential.ts";
import { outputs, type Stage, watch } from "./program.ts";

/** Runs the user's text as a command, then ends the turn. */
const runText: ScriptFunction = ({ input, lastUserText }) =>
  input.at(-1)?.type === "function_call_output" ? "done" : run(lastUserText);

/** The output of the model's last command. */
function printed({ model }: Stage): unknown {
  return String(outputs(model.requests.at(-1)).at(-1))
    .split("Output:\n")
    .at(-1);
}

differential("environments", {
  "an API key": {
    script: ["one"],
    run: async ({ codex, workspace, codexHome, model }) => {
      const config = { model_providers: { scripted: { requires_openai_auth: true } } };
      const turn = await watch(
        codex({ apiKey: "sk-test", config }).startThread({ workingDirectory: workspace }),
        "hi",
      );
      const stored = await readFile(join(codexHome, "auth.json"), "utf8").catch(() => "nothing stored");
      const { authorization, originator } = model.requests[0]?.headers ?? {};
      return { turn, stored, authorization, originator };
    },
  },

  "environment variables for commands, without those of the program": {
    script: runText,
    run: async (stage) => {
      const { codex, base, workspace } = stage;
      const free = { workingDirectory: workspace, sandboxMode: "danger-full-access" } as const;
      process.env["COLOUR_OF_PROGRAM"] = "blue";
      try {
        await codex({ env: { ...base.env, COLOUR: "red" } })
          .startThread(free)
          .run("echo $COLOUR $COLOUR_OF_PROGRAM");
        return printed(stage);
      } finally {
        delete process.env["COLOUR_OF_PROGRAM"];
      }
    },
  },
  "the program's own variables, changed between turns": {
    script: runText,
    run: async (stage) => {
      const { base, workspace } = stage;
      const before = { ...process.env };
      Object.assign(process.env, base.env);
      try {
        const { codexPathOverride } = base;
        const thread = stage
          .codex({ codexPathOverride, env: undefined as never })
          .startThread({ workingDirectory: workspace, sandboxMode: "danger-full-access" });
        const seen: unknown[] = [];
        for (const colour of ["red", "blue"]) {
          process.env["COLOUR"] = colour;
          await thread.run("echo $COLOUR");
          seen.push(printed(stage));
        }
        return seen;
      } finally {
        for (const name of Object.keys(process.env)) delete process.env[name];
        Object.assign(process.env, before);
      }
    },
  },
  "one thread under several environments": {
    script: runText,
    run: async (stage) => {
      const { codex, base, workspace } = stage;
      const free = { workingDirectory: workspace, sandboxMode: "danger-full-access" } as const;
      const thread = codex().startThread(free);
      await thread.run("echo ${COLOUR:-none}");
      const seen = [printed(stage)];
      for (const COLOUR of ["red", "blue", "red"]) {
        await codex({ env: { ...base.env, COLOUR } })
          .resumeThread(thread.id ?? "", free)
          .run("echo $COLOUR");
        seen.push(printed(stage));
      }
      return seen;
    },
  },
  "a key in the environment": {
    script: () => "done",
    run: async ({ codex, base, workspace, codexHome, model }) => {
      const config = { model_providers: { scripted: { requires_openai_auth: true } } };
      const thread = { workingDirectory: workspace };
      await codex({ config, env: { ...base.env, CODEX_API_KEY: "sk-env" } })
        .startThread(thread)
        .run("hi");
      await codex({ config, apiKey: "sk-option", env: { ...base.env, CODEX_API_KEY: "sk-env" } })
        .startThread(thread)
        .run("hi");
      const stored = await readFile(join(codexHome, "auth.json"), "utf8").catch(() => "nothing stored");
      return [model.requests.map(({ headers }) => headers["authorization"]), stored];
    },
  },
  "a custom originator": {
    script: () => "done",
    run: async ({ codex, base, workspace, model }) => {
      for (const originator of ["my_program", ""]) {
        const env = { ...base.env, CODEX_INTERNAL_ORIGINATOR_OVERRIDE: originator };
        await codex({ env }).startThread({ workingDirectory: workspace }).run("hi");
      }
      return model.requests.map(({ headers }) => headers["originator"]);
    },
  },
  "two homes": {
    script: () => "done",
    run: async ({ codex, base, workspace, codexHome, root }) => {
      const other = join(root, "other-home");
      await cp(codexHome, other, { recursive: true });
      const thread = codex().startThread({ workingDirectory: workspace });
      await thread.run("hi");
      const elsewhere = codex({ env: { ...base.env, CODEX_HOME: other } });
      const lost = await watch(
        elsewhere.resumeThread(thread.id ?? "", { workingDirectory: workspace }),
        "more",
      );
      return { lost, found: (await thread.run("more")).usage };
    },
  },
});
