import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "main.ts");
const FIXTURES = join(import.meta.dirname, "fixtures");

function start(args: readonly string[], folder = "sound") {
  return spawn(process.execPath, [MAIN, "--dir", join(FIXTURES, folder), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function bench(args: readonly string[], folder?: string) {
  const child = start(args, folder);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode, stdout, stderr };
}

describe("bench", () => {
  it("lists the benchmarks, one per line, if no name is given", async () => {
    const { code, stdout } = await bench([]);
    expect(code).toBe(0);
    expect(stdout).toContain("passes  every bar holds\n");
    expect(stdout.trimEnd().split("\n")).toHaveLength(4);
    expect(await bench(["--list", "passes"])).toMatchObject({ code: 0, stdout });
  });

  it("lists the others if one benchmark can't be loaded", async () => {
    const { code, stdout } = await bench(["--list"], "broken");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^fine {5}stands beside a broken one$/m);
    expect(stdout).toMatch(/^nothing {2}cannot be loaded: nothing\.bench\.ts does not export/m);
  });

  it("prints the table on stdout and its progress on stderr", async () => {
    const { code, stdout, stderr } = await bench(["passes"]);
    expect(code).toBe(0);
    expect(stdout).toContain("passes: every bar holds\n");
    expect(stdout).toContain("✓ ≥ 70% of floor, ✓ ≥ 2 × peer");
    expect(stdout).toContain("✓ ≤ 3 × floor");
    expect(stderr).toBe("passes · fast row · 3 rounds\npasses · lone row · 3 rounds\n");
  });

  it("prints Markdown", async () => {
    const { stdout } = await bench(["passes", "--markdown"]);
    expect(stdout).toMatch(/^\*\*passes: every bar holds\*\*\n\n\| row /);
    expect(stdout).toMatch(/^\| fast row \| throughput \| msg\/s ↑ \|/m);
  });

  it("prints its usage", async () => {
    const { code, stdout } = await bench(["--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("--check");
  });

  it("fails and names a failing contestant, and disposes the context", async () => {
    const { code, stdout, stderr } = await bench(["throws"]);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain('row "bad row", contestant "ours": the peer went away');
    expect(stderr).toContain("context disposed");
  });
});

describe("bench --check", () => {
  it("exits 0 if every bar is met", async () => {
    const { code, stderr } = await bench(["passes", "--check"]);
    expect(code).toBe(0);
    expect(stderr).not.toContain("missed");
  });

  it("exits 1 and lists exactly the missed bars", async () => {
    const { code, stdout, stderr } = await bench(["misses", "passes", "--check"]);
    expect(code).toBe(1);
    expect(stdout).toContain("✗ ≥ 70% of floor, ✓ ≥ 50% of floor");
    expect(stderr.split("\n").filter((line) => line.startsWith("missed"))).toEqual([
      "missed: misses / slow row / throughput: ours ≥ 70% of floor, measured 60% of floor",
      "missed: misses / heavy row / memory: ours ≤ 32 MB, measured 64 MB",
    ]);
  });

  it("exits 0 without --check, even if bars are missed", async () => {
    expect(await bench(["misses"])).toMatchObject({ code: 0 });
  });

  it("checks only the rows selected by --only", async () => {
    expect(await bench(["misses", "--check", "--only", "heavy"])).toMatchObject({ code: 1 });
    expect(await bench(["passes", "--check", "--only", "lone"])).toMatchObject({ code: 0 });
  });
});

describe("bench --json", () => {
  it("prints one document with samples, medians, ratios and bar results", async () => {
    const { code, stdout } = await bench(["misses", "passes", "--json", "--check", "--rounds", "4"]);
    expect(code).toBe(1);
    const { machine, benchmarks } = JSON.parse(stdout);
    expect(Object.keys(machine).toSorted()).toEqual(["arch", "cpus", "node", "platform"]);
    expect(benchmarks.map(({ name }: { name: string }) => name)).toEqual(["misses", "passes"]);
    expect(benchmarks[0].rounds).toBe(4);
    expect(benchmarks[0].rows[0].measures[0]).toMatchObject({
      name: "throughput",
      unit: "ops/s",
      better: "higher",
      contestants: [
        { name: "ours", samples: [600, 600, 600, 600], median: 600, spread: 0 },
        { name: "floor", median: 1000 },
      ],
      ratios: [{ against: "floor", median: 0.6, rounds: [0.6, 0.6, 0.6, 0.6] }],
      bars: [
        { of: "ours", against: "floor", limit: { atLeast: 0.7 }, actual: 0.6, pass: false },
        { limit: { atLeast: 0.5 }, pass: true },
      ],
    });
  });
});

describe("bench with invalid arguments", () => {
  it.each([
    { args: ["nosuch"], says: "unknown benchmark: nosuch\nknown benchmarks: misses, passes, throws, waits" },
    { args: ["passes", "--fast"], says: "Unknown option '--fast'" },
    { args: ["passes", "--rounds", "0"], says: '--rounds takes a whole number from 1 on, not "0"' },
    {
      args: ["passes", "--only", "nosuch"],
      says: 'no row contains "nosuch"\nknown rows: fast row, lone row',
    },
    { args: ["passes", "--json", "--markdown"], says: "exclude each other" },
  ])("exits 2 on $args", async ({ args, says }) => {
    const { code, stdout, stderr } = await bench(args);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(says);
    expect(stderr).toContain("Usage:");
  });
});

describe("bench, interrupted", () => {
  it.each([
    { signal: "SIGINT", code: 130 },
    { signal: "SIGTERM", code: 143 },
  ] as const)(
    "ends the contestant, disposes the context and exits $code on $signal",
    async ({ signal, code }) => {
      const child = start(["waits"]);
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
        if (!stderr.includes("contestant started") && (stderr + chunk).includes("contestant started"))
          child.kill(signal);
        stderr += chunk;
      });
      await once(child, "close");
      expect(child.exitCode).toBe(code);
      expect(stderr).toMatch(/contestant ended\ncontext disposed\ninterrupted\n$/);
    },
  );
});
