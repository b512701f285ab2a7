// Compiled outside the repository, against the packed declarations, by each supported version of TypeScript.
import { definePolicy, evaluatePolicy } from "@codexkit/approvals";
import { Codex, type CodexEvent, CodexError, defineTool, outputSchema } from "codexkit";
import { z } from "zod";
import * as mini from "zod/mini";

const size = z.object({ width: z.number(), unit: z.enum(["mm", "cm"]).default("mm") });
const miniSize = mini.object({ width: mini.number(), unit: mini.enum(["mm", "cm"]) });

export const tools = [
  defineTool({
    name: "measure",
    description: "Measures",
    input: size,
    execute: ({ width, unit }) => `${width.toFixed(1)} ${unit satisfies "mm" | "cm"}`,
  }),
  defineTool({
    name: "measure_mini",
    description: "Measures",
    input: miniSize,
    execute: ({ width, unit }) => `${width.toFixed(1)} ${unit satisfies "mm" | "cm"}`,
  }),
];

export async function run(): Promise<number> {
  const codex = await Codex.launch();
  const thread = await codex.startThread({ cwd: ".", sandbox: "workspace-write", tools });
  const turn = thread.run("Measure it", { outputSchema: size });
  for await (const event of turn) print(event);
  const { structured } = await turn;
  const { structured: second } = await thread.run("Again", { outputSchema: outputSchema(miniSize) });
  return structured.width + second.width;
}

function print(event: CodexEvent): void {
  if (event.type === "item.delta" && event.kind === "message") process.stdout.write(event.delta);
  // @ts-expect-error There is no such event.
  if (event.type === "item.imagined") process.stdout.write("");
}

export function isMissing(error: unknown): boolean {
  return error instanceof CodexError && error.code === "codex_not_found";
}

export const evaluation = evaluatePolicy(definePolicy({ preset: "developer" }), {
  kind: "command",
  command: "ls",
  cwd: "/",
});
