import { defineBench } from "../define-bench.ts";
import {
  callInTransaction,
  callPlainTool,
  evaluateAtOnce,
  evaluatePlain,
  rollBack,
  rollBackWithGit,
  runAtOnce,
  runPlain,
} from "./prompts/contestants.ts";
import { setUp } from "./prompts/setup.ts";

/**
 * Prompts compared with the same work through the SDK alone, on one codex and a scripted model. The git peer
 * takes snapshots with `git add -A` and restores them with `git reset --hard`.
 */
export default defineBench({
  name: "prompts",
  description: "evaluations and transactional tool calls, against the SDK alone and git-based snapshots",
  rounds: 7,
  setup: setUp,
  rows: (row) => [
    row({
      name: "evaluate, no tools",
      measures: "ms",
      contestants: { ours: evaluatePlain, sdk: runPlain },
      bars: [{ against: "sdk", atMost: 1.1 }],
    }),
    row({
      name: "8 evaluations at once",
      measures: "ms",
      contestants: { ours: evaluateAtOnce, sdk: runAtOnce },
      bars: [{ against: "sdk", atMost: 1.1 }],
    }),
    row({
      name: "tool call, 10 files",
      measures: "ms",
      contestants: {
        ours: (context) => callInTransaction(context, context.small),
        sdk: (context) => callPlainTool(context, context.small),
      },
      bars: [{ against: "sdk", atMost: 1.5 }],
    }),
    row({
      name: "tool call, 10,000 files",
      measures: "ms",
      contestants: {
        ours: (context) => callInTransaction(context, context.large),
        "10 files": (context) => callInTransaction(context, context.small),
      },
      bars: [{ against: "10 files", atMost: 2 }],
    }),
    row({
      name: "snapshot and rollback, 10,000 files",
      measures: "ms",
      contestants: {
        ours: (context) => rollBack(context, context.large),
        git: (context) => rollBackWithGit(context.large),
      },
      bars: [{ against: "git", atMost: 1 }],
    }),
  ],
});
