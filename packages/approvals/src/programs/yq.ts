import {
  declareProgram,
  flag,
  flagWith,
  information,
  type OptionTable,
  value,
} from "./declaration/declaration.ts";
import type { Effect } from "./declaration/effect.ts";

/** The options of yq in Go and yq in Python, whether both or only one of them has them. */
const OPTIONS: OptionTable = {
  "-c": flag,
  "-C, --colors": flag,
  "-e, --exit-status": flag,
  "-h, --help": information,
  "-i, --inplace, --in-place": flagWith({ operands: { first: ["pattern"], rest: "read-write", atLeast: 2 } }),
  "-I, --indent": value("number"),
  "-j, --tojson": flag,
  "-M, --no-colors": flag,
  "-n, --null-input": flag,
  "-N, --no-doc": flag,
  "-o, --output-format": value("data"),
  "-p, --input-format": value("data"),
  "-P, --prettyPrint": flag,
  "-r, --unwrapScalar": flag,
  "-y": flag,
  "--version": information,
};

/**
 * `-s` writes one file for each part, `--from-file` loads an expression, and the operators that read files or run commands
 * are not understood.
 */
export const yq = declareProgram({
  names: ["yq"],
  options: OPTIONS,
  operands: { first: ["pattern"], rest: "read" },
  examine: ({ operands, hasOption }) => {
    // `yq eval EXPRESSION FILE` and `yq EXPRESSION FILE`.
    const isCommand = /^(?:e|ea|eval|eval-all)$/.test(operands[0]?.text ?? "");
    const expression = operands[isCommand ? 1 : 0];
    if (expression === undefined) return [];
    if (expression.text === undefined || expression.isGlob === true)
      return "the expression is only known at run time";
    if (/\b(?:load\w*|system|eval|env\w*|strenv|import|include)\b|\.yq$/.test(expression.text))
      return "the expression may read files or run commands";
    // The name of a file counts as the file, not as an expression.
    const isPlain = /^[\w./~@+-]+$/.test(expression.text);
    const changes: readonly Effect[] =
      hasOption("-i") && isPlain ? [{ kind: "write", path: expression }] : [];
    return [{ kind: "read", path: expression }, ...changes];
  },
});
