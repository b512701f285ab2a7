// Runs a turn of the real codex as a program outside the repository. Plain JavaScript: Node 22 has no `using`.
import { callTool, codexConfig, say, ScriptedModel, withoutModelVariables } from "@codexkit/scripted-model";
import { Codex, defineTool } from "codexkit";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

const folder = await mkdtemp(join(tmpdir(), "codexkit-consumer-"));
const codexHome = join(folder, "codex-home");
await mkdir(codexHome);
const model = await ScriptedModel.start([
  [callTool("measure", { width: 2, unit: "cm" })],
  [say('{"millimetres":20}')],
]);
await writeFile(join(codexHome, "config.toml"), codexConfig(model, { model: "mock-model" }).toml);

const measured = [];
const measure = defineTool({
  name: "measure",
  description: "Measures a width",
  input: z.object({ width: z.number(), unit: z.enum(["mm", "cm"]) }),
  execute: (input) => {
    measured.push(input);
    return "20 mm";
  },
});
const { LISTEN: listen } = process.env;
const codex = await Codex.launch({
  ...(listen && { listen }),
  env: { ...withoutModelVariables(process.env), CODEX_HOME: codexHome, HOME: folder, TMPDIR: folder },
  inheritEnv: false,
});
try {
  const thread = await codex.startThread({ cwd: folder, sandbox: "read-only", tools: [measure] });
  const { structured } = await thread.run("How wide is it?", {
    outputSchema: z.object({ millimetres: z.number() }),
  });
  process.stdout.write(`${JSON.stringify({ measured, structured, node: process.versions.node })}\n`);
} finally {
  await codex.close();
  await model.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}
