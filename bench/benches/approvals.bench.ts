import { defineBench } from "../define-bench.ts";
import { decideAll, distinctCommands, mixedCorpus } from "./approvals/decide-all.ts";
import { judgeGenerated } from "./approvals/generated-inputs.ts";
import { matchPatterns } from "./approvals/match-patterns.ts";

/**
 * The corpora of the package, dangerous and ordinary commands mixed, each judged once per pass under
 * `developer`. Nothing is cached between commands; the second row makes every command of a round unique, so
 * that no cache could help. The floor is what bridges without a parser do: match a list of regular
 * expressions against the string.
 */
export default defineBench({
  name: "approvals",
  description: "@codexkit/approvals: decisions on commands, and the slowest of many generated inputs",
  rounds: 9,
  rows: (row) => [
    row({
      name: "mixed corpus",
      measures: "ops/s",
      contestants: {
        ours: async () => decideAll(mixedCorpus, 10),
        floor: async () => matchPatterns(mixedCorpus, 10),
      },
      bars: [{ atLeast: 40_000 }],
    }),
    row({
      name: "all commands different",
      measures: "ops/s",
      contestants: { ours: async () => decideAll(distinctCommands(10_000), 1) },
      bars: [{ atLeast: 40_000 }],
    }),
    row({
      name: "10,000 generated inputs up to 1 MB",
      measures: { slowest: "ms", memory: "MB" },
      contestants: { ours: async () => judgeGenerated() },
      bars: [
        { measure: "slowest", atMost: 30 },
        { measure: "memory", atMost: 50 },
      ],
    }),
  ],
});
