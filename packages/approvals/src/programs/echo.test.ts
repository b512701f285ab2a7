import { expect, it } from "vitest";
import { describeProgram } from "../../test/describe-program.ts";
import { parseCall } from "./declaration/parse-call.ts";
import { literal } from "./declaration/word.ts";
import { echo } from "./echo.ts";

describeProgram(echo, {
  understood: {
    "": [],
    "-n x": [],
    "-x --help * <unknown> 'a b'": [],
  },
  notUnderstood: [],
});

it("has no effect, whatever its words", () => {
  expect(parseCall(echo, [literal("--"), literal("-o"), literal("> out")])).toMatchObject({ effects: [] });
});
