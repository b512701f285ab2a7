import type { TestExpression } from "unbash";
import { notPlain } from "./plain-script.ts";
import { readWords, type WordScope } from "./read-word.ts";

/** Operators that look at files and texts. `-v` and `-R` evaluate their operands. */
const OPERATORS = new Set(
  "-a -b -c -d -e -f -g -h -k -n -p -r -s -t -u -w -x -z -G -L -N -O -S = == != -nt -ot -ef".split(" "),
);

/** Checks that `[[ … ]]` only tests. Its operands are read because they may contain substitutions. */
export function readTest(expression: TestExpression, scope: WordScope): void {
  switch (expression.type) {
    case "TestUnary":
    case "TestBinary": {
      const isUnary = expression.type === "TestUnary";
      const operands = isUnary ? [expression.operand] : [expression.left, expression.right];
      const isNumeric = /^-(?:eq|ne|lt|le|gt|ge)$/.test(expression.operator);
      // Numeric operators evaluate their operands. In dash, `[[` is the name of a program, and `<` a redirection.
      const isHarmless = isNumeric
        ? operands.every(({ text }) => /^(?:-?\d+|"?\$[?#]"?)$/.test(text))
        : OPERATORS.has(expression.operator) ||
          (scope.dialect !== "unknown" && /^(?:[<>]|=~)$/.test(expression.operator));
      if (!isHarmless) notPlain(`the test ${expression.operator}`);
      for (const operand of operands) readWords(operand, scope);
      return;
    }
    case "TestNot":
      return readTest(expression.operand, scope);
    case "TestLogical":
    case "TestGroup": {
      const isGroup = expression.type === "TestGroup";
      // In dash, the next part would be a command.
      if (scope.dialect === "unknown") notPlain("a test of several parts");
      for (const operand of isGroup ? [expression.expression] : expression.operands) readTest(operand, scope);
      return;
    }
    default:
      notPlain("a test");
  }
}
