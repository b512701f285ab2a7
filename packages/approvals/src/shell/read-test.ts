import type { TestExpression } from "unbash";
import { notPlain } from "./plain-script.ts";
import { readWord, type WordScope } from "./read-word.ts";

/** Operators that look at files and texts. `-v`, `-R` and the numeric ones evaluate their operands. */
const UNARY = new Set("-a -b -c -d -e -f -g -h -k -n -p -r -s -t -u -w -x -z -G -L -N -O -S".split(" "));
const TEXTUAL = new Set(["=", "==", "!=", "-nt", "-ot", "-ef"]);
const NUMERIC = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

/** Checks that `[[ … ]]` only tests. Its operands are read for the substitutions in them. */
export function readTest(expression: TestExpression, scope: WordScope): void {
  switch (expression.type) {
    case "TestUnary":
      if (!UNARY.has(expression.operator)) notPlain(`the test ${expression.operator}`);
      readWord(expression.operand, scope);
      return;
    case "TestBinary": {
      const { operator, left, right } = expression;
      const isNumeric = NUMERIC.has(operator);
      const isOrdering = operator === "<" || operator === ">" || operator === "=~";
      // To dash, `[[` is the name of a program and these are redirections.
      if (!isNumeric && !TEXTUAL.has(operator) && !(isOrdering && scope.dialect !== "unknown"))
        notPlain(`the test ${operator}`);
      for (const word of [left, right]) {
        if (isNumeric && !/^(?:-?\d+|"?\$[?#]"?)$/.test(word.text)) notPlain(`the arithmetic of ${operator}`);
        readWord(word, scope);
      }
      return;
    }
    case "TestLogical":
      // To dash, the second half would be a command.
      if (scope.dialect === "unknown") notPlain(`${expression.operator} inside [[`);
      for (const operand of expression.operands) readTest(operand, scope);
      return;
    case "TestNot":
      readTest(expression.operand, scope);
      return;
    case "TestGroup":
      if (scope.dialect === "unknown") notPlain("parentheses inside [[");
      readTest(expression.expression, scope);
      return;
    default:
      notPlain("a test");
  }
}
