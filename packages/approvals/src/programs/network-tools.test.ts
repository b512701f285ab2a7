import { describeProgram, type ProgramExamples } from "../../test/describe-program.ts";
import { networkTools } from "./network-tools.ts";

const examples: Readonly<Record<string, ProgramExamples>> = {
  dig: {
    understood: { "host.example": ["connect host.example"] },
    notUnderstood: ["", "-f file", "@server x", "x +trace"],
  },
  nc: {
    understood: { "-z localhost 5432": ["connect localhost"] },
    notUnderstood: ["localhost 5432", "-l 80", "-e sh x 1", "-zc x y 1"],
  },
  ping: { understood: { "-c 1 localhost": ["connect localhost"] }, notUnderstood: ["", "-f x", "-p ff x"] },
};

for (const program of networkTools) {
  const example = examples[program.names[0] ?? ""];
  if (example === undefined) throw new Error(`There are no examples for ${program.names[0]}.`);
  describeProgram(program, example);
}
