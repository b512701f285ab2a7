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

/** The presets that make a promise about the commands that they accept. */
export const CHECKED_PRESETS = ["read-only", "workspace-write", "developer"] as const;

export type CheckedPreset = (typeof CHECKED_PRESETS)[number];

export interface Violation {
  readonly preset: CheckedPreset;
  readonly shell: string;
  readonly script: string;
  readonly report: Report;
}

export interface PromiseResult {
  /** Number of judged scripts, and of those that the preset accepted and that bash and dash ran. */
  readonly judged: number;
  readonly accepted: number;
  readonly violations: readonly Violation[];
}

export interface PromiseOptions {
  readonly preset: CheckedPreset;
  /** Number of scripts to generate. */
  readonly count: number;
  readonly seed: number;
  /** Whether to add the scripts of the corpora. */
  readonly withCorpora?: boolean;
}

/** Actions that run other code, which the promise of `developer` leaves to its sandbox. Such scripts are not run here. */
const OTHER_CODE = { container: "ask", install: "ask", "project-code": "ask", unpack: "ask" } as const;

/** Judges scripts under a preset, runs the accepted ones for real, and compares their effects with the promise. */
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
  // Most scripts are refused by their text, so files are looked up only for the others.
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
  // git's reading commands refresh the file times that it stores in the index.
  const changes = changed.filter((path) => path !== "work/.git/index");
  switch (preset) {
    case "read-only":
      return changes.length > 0 || connections > 0;
    case "workspace-write":
      return connections > 0 || changes.some((path) => !path.startsWith("work/") || PROTECTED.test(path));
    case "developer":
      // git's own commands change `.git`. All other protected files stay unchanged.
      return changes.some(
        (path) => !path.startsWith("work/") || (PROTECTED.test(path) && !path.startsWith("work/.git/")),
      );
  }
}
