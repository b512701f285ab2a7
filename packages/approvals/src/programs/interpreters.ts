import { declareProgram, flag, information, value } from "./declaration/declaration.ts";

/** Interpreters that need few options. They run a project script, or code in an argument. */
export const interpreters = declareProgram({
  names: ["Rscript", "java", "julia", "lua", "php", "ruby"],
  syntax: "posix",
  options: {
    "-V, --version, -version": information,
    "-e, -r": value("code", { operands: { rest: "data" } }),
    "-l": value(["lint"]),
    "-v": flag,
    "-w": flag,
    "-jar": value("script", { operands: { rest: "data" } }),
  },
  operands: { first: ["script"], rest: "data", atLeast: 0 },
  examine: ({ operands, options }) =>
    operands.length === 0 && !["-e", "-jar"].some((name) => options.has(name))
      ? [{ kind: "stdin-code", language: "other" }]
      : [],
});
