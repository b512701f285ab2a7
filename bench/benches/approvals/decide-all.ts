import { readFileSync } from "node:fs";
import { definePolicy, evaluatePolicy } from "@codexkit/approvals";

const policy = definePolicy({ preset: "developer", workspace: { roots: ["/srv/app"], home: "/home/me" } });

/** Dangerous and ordinary commands alternately. */
export const mixedCorpus: readonly string[] = (() => {
  const [dangerous, ordinary] = [load("dangerous"), load("ordinary")];
  return dangerous.flatMap((command, index) => [command, ...ordinary.slice(index, index + 1)]);
})();

function load(name: string): string[] {
  const url = new URL(`../../../packages/approvals/corpus/${name}.json`, import.meta.url);
  const entries = JSON.parse(readFileSync(url, "utf8")) as { readonly command: string }[];
  return entries.map(({ command }) => command);
}

let serial = 0;

/** Commands as Codex sends them. Each contains a unique number, so that no two are alike. */
export function distinctCommands(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    serial += 1;
    const command = mixedCorpus[index % mixedCorpus.length] ?? "";
    return `/bin/bash -lc 'echo run-${serial}; ${command.replaceAll("'", String.raw`'\''`)}'`;
  });
}

/** Decisions that are made before the clock starts. */
const WARM_UP = 10_000;

/**
 * Decisions per second of a warm program. The runner collects garbage before each sample, which also discards
 * compiled code: without a warm-up, most of a sample would be compilation time.
 */
export function decideAll(commands: readonly string[], passes: number): number {
  for (const command of distinctCommands(WARM_UP)) decide(command);
  const before = performance.now();
  for (let pass = 0; pass < passes; pass += 1) for (const command of commands) decide(command);
  return (commands.length * passes * 1000) / (performance.now() - before);
}

function decide(command: string): void {
  evaluatePolicy(policy, { kind: "command", command, cwd: "/srv/app" });
}
