import { declareProgram, flag, information, value } from "./declaration/declaration.ts";

export const bash = declareProgram({
  names: ["bash", "dash", "sh", "zsh"],
  syntax: "posix",
  options: {
    "-c": value("shell", { operands: {} }),
    "-e": flag,
    "-l, --login": flag,
    "-n": flag,
    "-o": value(["errexit", "nounset", "pipefail", "xtrace"]),
    "-u": flag,
    "-x": flag,
    "--version": information,
  },
  operands: { first: ["script"], rest: "data" },
  examine: ({ operands, options }) => {
    // `+e` switches an option off, and the next word is the script.
    if (operands[0]?.text?.startsWith("+") === true) return `option ${operands[0].text} is not declared`;
    return operands.length === 0 && !options.has("-c") ? [{ kind: "stdin-code", language: "shell" }] : [];
  },
});
