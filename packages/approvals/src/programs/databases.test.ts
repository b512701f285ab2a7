import { describeProgram, type ProgramExamples } from "../../test/describe-program.ts";
import { databases } from "./databases.ts";

const examples: Readonly<Record<string, ProgramExamples>> = {
  psql: {
    understood: {
      "-h localhost -c 'select 1'": ["send localhost", "inline-code select 1"],
      "-f schema.sql": ["execute schema.sql"],
      "": ["stdin-code other"],
    },
    notUnderstood: ["postgres://host.example/x", "-o out -c x", "-c <unknown>", "-L log", "--hos x"],
  },
  sqlite3: {
    understood: {
      "dev.db 'select 1'": ["read dev.db", "write dev.db", "inline-code select 1"],
      "dev.db": ["read dev.db", "write dev.db", "stdin-code other"],
    },
    notUnderstood: ["", "-init x dev.db", "-cmd '.shell x' dev.db", "dev.db <unknown>"],
  },
};

for (const program of databases) {
  const example = examples[program.names[0] ?? ""];
  if (example === undefined) throw new Error(`There are no examples for ${program.names[0]}.`);
  describeProgram(program, example);
}
