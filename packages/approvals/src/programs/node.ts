import {
  attachedValue,
  declareProgram,
  flag,
  flagWith,
  information,
  value,
} from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";

const script = { first: ["script"], rest: "data" } as const;
const testFiles = { rest: "script" } as const;

export const node = declareProgram({
  names: ["node", "nodejs"],
  syntax: "posix",
  options: {
    "-c, --check": flag,
    "-e, --eval": value("code", { endsOptions: true, operands: { rest: "data" } }),
    "-h, --help": information,
    "-i, --interactive": flag,
    "-p, --print": value("code", { endsOptions: true, operands: { rest: "data" } }),
    "-r, --require, --import": value("data", { effects: [action("project-code")] }),
    "-v, --version": information,
    "--conditions, -C": value("data"),
    "--enable-source-maps": flag,
    "--env-file": value("read"),
    "--env-file-if-exists": value("read"),
    "--experimental-strip-types": flag,
    "--experimental-transform-types": flag,
    "--expose-gc": flag,
    "--input-type": value(["commonjs", "module"]),
    "--max-old-space-size": value("number"),
    "--no-deprecation": flag,
    "--no-warnings": flag,
    "--run": value("data", {
      endsOptions: true,
      effects: [action("project-code")],
      operands: { rest: "data" },
    }),
    "--stack-trace-limit": value("number"),
    "--test": flagWith({ effects: [action("project-code")], operands: testFiles }),
    "--test-concurrency": value("number"),
    "--test-name-pattern": value("pattern"),
    "--test-only": flag,
    "--test-reporter": value(["dot", "junit", "lcov", "spec", "tap"]),
    "--test-timeout": value("number"),
    "--trace-deprecation": flag,
    "--trace-uncaught": flag,
    "--trace-warnings": flag,
    "--unhandled-rejections": value("data"),
    "--watch": flag,
    "--experimental-test-coverage": flag,
    "--test-update-snapshots": flag,
    "--experimental-vm-modules": flag,
    "--color": attachedValue("data"),
  },
  operands: script,
  examine: ({ operands, options, effects }) => {
    const runsSomething = effects.length > 0 || ["-e", "-p"].some((name) => options.has(name));
    // Without a script, it runs its input.
    return operands.length === 0 && !runsSomething ? [{ kind: "stdin-code", language: "other" }] : [];
  },
});
