import { readOptions, type OptionSyntax } from "../options.ts";
import type { Unwrapper } from "../unwrap.ts";
import { derivedValue } from "../value.ts";

const XARGS: OptionSyntax = {
  short: "IaEdLnPs",
  long: ["--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-lines", "--max-chars"],
  stopsAtOperand: true,
};

/** `xargs` and `parallel`: the words that come from stdin are added by the reader of the script, who knows stdin. */
export const xargs: Unwrapper = (args) => {
  const options = readOptions(args, XARGS);
  if (options.operands.length === 0) return { transparent: true, inner: [] };
  return { transparent: true, inner: [{ kind: "command", argv: options.operands }] };
};

export const parallel: Unwrapper = (args) => {
  const options = readOptions(args, {
    short: "jIaSNnPLd",
    long: [
      "--jobs",
      "--arg-file",
      "--colsep",
      "--joblog",
      "--results",
      "--delay",
      "--timeout",
      "--retries",
      "--sshlogin",
      "--max-args",
    ],
    stopsAtOperand: true,
  });
  const colons = options.operands.findIndex(({ text }) => /^:{3,4}\+?$/.test(text));
  const template = colons === -1 ? options.operands : options.operands.slice(0, colons);
  const inputs =
    colons === -1 ? [] : options.operands.slice(colons + 1).filter(({ text }) => !text.startsWith(":::"));
  if (template.length === 0) {
    // Without a command, each input is a command line itself.
    if (inputs.length === 0)
      return { transparent: true, inner: [{ kind: "stdin", shell: "posix", what: "parallel" }] };
    return { transparent: true, inner: inputs.map((source) => ({ kind: "script", source, shell: "posix" })) };
  }
  const line = template.map(({ text }) => text).join(" ");
  const fill = inputs.length === 0 ? ["\u0000"] : inputs.map(({ text }) => text);
  return {
    transparent: true,
    inner: fill.slice(0, 16).map((text) => {
      const source = line.includes("{}") ? line.replaceAll("{}", text) : `${line} ${text}`;
      return { kind: "script", source: derivedValue(source), shell: "posix" };
    }),
  };
};
