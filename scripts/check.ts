// Runs all checks for a change: types, lint, format, unused code, tests. Arguments are passed to the tests.
import { spawnSync } from "node:child_process";

const steps: { what: string; command: string; args: string[] }[] = [
  { what: "types", command: "npm", args: ["run", "--silent", "build"] },
  { what: "lint", command: "oxlint", args: [] },
  { what: "format", command: "oxfmt", args: ["--check"] },
  { what: "unused code and dependencies", command: "knip", args: [] },
  { what: "tests", command: "vitest", args: ["run", ...process.argv.slice(2)] },
];

for (const { what, command, args } of steps) {
  console.log(`\n— ${what}`);
  const { status } = spawnSync(command, args, { stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) {
    console.error(`\n${what}: failed`);
    process.exit(status ?? 1);
  }
}
