import { defineBench } from "../define-bench.ts";
import { timeProgram } from "./cli/time-program.ts";
import { openPrograms, type Programs } from "./cli/programs.ts";
import { ANSWER } from "./cli/script.ts";

/**
 * The built command line as a process, from its start to its exit. Both contestants of a task use the same
 * codex, home and model; the model is already running.
 */
export default defineBench({
  name: "cli",
  description: "the codexkit command: its start, and a short task against codex exec",
  rounds: 15,
  setup: openPrograms,
  rows: (row) => [
    row({
      name: "--version",
      measures: "ms",
      contestants: {
        ours: async ({ cli, env }: Programs, signal) => timeProgram([...cli, "--version"], { env, signal }),
        floor: async ({ env }: Programs, signal) =>
          timeProgram([process.execPath, "-e", "0"], { env, signal }),
      },
      bars: [{ against: "floor", atMost: 1.5 }],
    }),
    row({
      name: "--help",
      measures: "ms",
      contestants: {
        ours: async ({ cli, env }: Programs, signal) => timeProgram([...cli, "--help"], { env, signal }),
        floor: async ({ env }: Programs, signal) =>
          timeProgram([process.execPath, "-e", "0"], { env, signal }),
      },
    }),
    row({
      name: "run, a one-word answer",
      measures: "ms",
      contestants: {
        ours: async ({ cli, env, workspace: cwd }: Programs, signal) =>
          timeProgram([...cli, "run", "answer"], { env, cwd, signal, prints: ANSWER }),
        "codex exec": async ({ codex, env, workspace: cwd }: Programs, signal) =>
          timeProgram([codex, "exec", "--skip-git-repo-check", "answer"], {
            env,
            cwd,
            signal,
            prints: ANSWER,
          }),
      },
      bars: [{ against: "codex exec", atMost: 1.5 }],
    }),
  ],
});
