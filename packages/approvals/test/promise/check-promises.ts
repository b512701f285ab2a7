import fc from "fast-check";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { definePolicy } from "../../src/policy/define-policy.ts";
import { evaluatePolicy } from "../../src/policy/evaluate-policy.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { resolvePaths } from "../../src/policy/resolve-paths.ts";
import { ALL_PROGRAMS } from "../../src/programs/all-programs.ts";
import { runsOtherCode, scripts } from "./generator.ts";
import { startSandbox, type Report } from "./sandbox.ts";
import { createWorld } from "./world.ts";

/** The presets that promise something about what their accepted commands do. */
export const CHECKED_PRESETS = ["read-only", "workspace-write", "developer"] as const;

export type CheckedPreset = (typeof CHECKED_PRESETS)[number];

export interface Violation {
  readonly preset: CheckedPreset;
  readonly shell: string;
  readonly script: string;
  readonly report: Report;
}

export interface PromiseResult {
  /** Scripts that were judged, and those that the preset accepted, so that they were run by bash and by dash. */
  readonly judged: number;
  readonly accepted: number;
  readonly violations: readonly Violation[];
}

export interface PromiseOptions {
  readonly preset: CheckedPreset;
  /** How many scripts to generate. */
  readonly count: number;
  readonly seed: number;
  /** Besides generated scripts, those of the corpora. */
  readonly withCorpora?: boolean;
}

/** What runs code that the promise of `developer` leaves to its sandbox: such scripts are not run here. */
const OTHER_CODE = { container: "ask", install: "ask", "project-code": "ask", unpack: "ask" } as const;

/** Judges scripts under a preset, runs those that it accepts for real, and compares what happened with the promise. */
export async function checkPromise({
  preset,
  count,
  seed,
  withCorpora = false,
}: PromiseOptions): Promise<PromiseResult> {
  await using world = await createWorld();
  await using sandbox = await startSandbox(world);
  const { workspace, home } = world;
  const effects = preset === "developer" ? OTHER_CODE : {};
  const policy = definePolicy({ preset, effects, workspace: { roots: [workspace], temp: [], home } });
  const programs = ALL_PROGRAMS.filter((program) => preset !== "developer" || !runsOtherCode(program));
  const list = fc.sample(scripts(programs), { numRuns: count, seed });
  if (withCorpora && preset !== "developer") list.push(...(await corpora()));
  const violations: Violation[] = [];
  let accepted = 0;
  for (const script of list) {
    if (!(await isAccepted(policy, script, workspace))) continue;
    accepted += 1;
    for (const shell of ["bash", "dash"] as const) {
      const report = await sandbox.run({ shell, script, cwd: workspace });
      if (breaksPromise(preset, report)) violations.push({ preset, shell, script, report });
    }
  }
  return { judged: list.length, accepted, violations };
}

async function isAccepted(policy: Policy, script: string, cwd: string): Promise<boolean> {
  const request = { kind: "command", command: script, cwd } as const;
  // Most are refused by their text already: only the others are worth a look at the files.
  if (evaluatePolicy(policy, request).decision === "deny") return false;
  return evaluatePolicy(policy, request, await resolvePaths(policy, request)).decision === "allow";
}

async function corpora(): Promise<string[]> {
  const folder = join(import.meta.dirname, "../../corpus");
  const lists = await Promise.all(
    ["dangerous.json", "ordinary.json"].map(async (name) => {
      const entries = JSON.parse(await readFile(join(folder, name), "utf8")) as {
        readonly command: string;
      }[];
      return entries.map(({ command }) => command);
    }),
  );
  return lists.flat();
}

/** Files of the workspace that no preset lets a command write directly. */
const PROTECTED = /^work\/(?:\.git|\.github\/workflows|\.vscode|AGENTS\.md)(?:\/|$)/;

function breaksPromise(preset: CheckedPreset, { changed, connections }: Report): boolean {
  // Reading commands of git refresh what it remembers about the times of files.
  const changes = changed.filter((path) => path !== "work/.git/index");
  switch (preset) {
    case "read-only":
      return changes.length > 0 || connections > 0;
    case "workspace-write":
      return connections > 0 || changes.some((path) => !path.startsWith("work/") || PROTECTED.test(path));
    case "developer":
      // git's own commands change `.git`; everything else that is protected stays as it is.
      return changes.some(
        (path) => !path.startsWith("work/") || (PROTECTED.test(path) && !path.startsWith("work/.git/")),
      );
  }
}
