import { fail, type Script } from "@codexkit/scripted-model";
import { launchCodex, tempFolder } from "@codexkit/testing";
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { openBundle } from "../bundle/open-bundle.ts";
import { definePrompt } from "../prompt/define-prompt.ts";
import { evalPrompt } from "./eval-prompt.ts";

const sum = definePrompt({
  ns: "test",
  key: "sum",
  params: z.object({ a: z.int(), b: z.int() }),
  output: z.object({ sum: z.int() }),
  sections: [{ key: "task", title: "Task", render: ({ a, b }) => `Add ${a} and ${b}.` }],
});

/** Correct for small numbers, wrong for large ones, missing for zero. */
const model: Script = ({ lastUserText }) => {
  const [a = 0, b = 0] = [...lastUserText.matchAll(/Add (\d+) and (\d+)/g)].flatMap(([, x, y]) => [
    Number(x),
    Number(y),
  ]);
  if (a === 0) return fail.http(400);
  return JSON.stringify({ sum: a < 100 ? a + b : 0 });
};

test("scores every case, keeps the bundles of failed cases and prints a table", async () => {
  await using setup = await launchCodex({ model, modelName: "gpt-5.5", modelRetries: 0 });
  await using bundles = await tempFolder("bundles");
  const toCase = (name: string, a: number, b: number) => ({
    name,
    prompt: sum.bind({ a, b }),
    expected: a + b,
    options: { thread: { cwd: setup.workspace } },
  });
  const seen: string[] = [];

  const report = await evalPrompt(
    setup.codex,
    [toCase("small", 1, 2), toCase("large", 100, 1), toCase("zero", 0, 1)],
    {
      score: ({ output }, expected) => ({
        value: output.sum === expected ? 1 : 0,
        reason: `got ${output.sum}`,
      }),
      bundles: bundles.path,
      onCase: ({ name }) => seen.push(name),
    },
  );

  expect(report).toMatchObject({ passed: 1, failed: 2 });
  expect(report.meanScore).toBeCloseTo(1 / 3);
  expect(report.cases.map(({ name, passed }) => `${name} ${passed}`)).toEqual([
    "small true",
    "large false",
    "zero false",
  ]);
  expect(seen.toSorted()).toEqual(["large", "small", "zero"]);
  expect(readdirSync(bundles.path)).toHaveLength(2);
  const { manifest, error } = await openBundle(report.cases[2]?.bundle ?? "");
  expect(manifest.status).toBe("failed");
  expect(error).toMatchObject({ code: "evaluation_failed" });
  expect(report.toTable()).toMatch(
    /^case {2}\s*result.*\nsmall\s+pass\s+1\.00.*\nlarge\s+FAIL\s+0\.00.*got 0\nzero\s+FAIL/,
  );
  expect(JSON.parse(JSON.stringify(report))).toMatchObject({ passed: 1 });
});

test("a failing scorer keeps its case's tokens and bundle, and a name stays on its row", async () => {
  await using setup = await launchCodex({ model, modelName: "gpt-5.5", modelRetries: 0 });
  await using bundles = await tempFolder("bundles");
  const one = { name: "two\nlines", prompt: sum.bind({ a: 1, b: 1 }), expected: 2 };
  const failing = [
    () => {
      throw new Error("no score");
    },
    () => "1" as never,
  ];
  for (const score of failing) {
    const report = await evalPrompt(setup.codex, [one], { score, bundles: bundles.path });
    const [result] = report.cases;
    expect(result).toMatchObject({ passed: false, score: 0, totalTokens: 15 });
    expect((await openBundle(result?.bundle ?? "")).manifest.status).toBe("completed");
    expect(report.toTable().split("\n")).toHaveLength(2);
  }
});

test("a bundle that a case requested itself is kept", async () => {
  await using setup = await launchCodex({ model, modelName: "gpt-5.5", modelRetries: 0 });
  await using bundles = await tempFolder("bundles");
  const one = {
    name: "own",
    prompt: sum.bind({ a: 1, b: 1 }),
    expected: 2,
    options: { bundle: bundles.path },
  };
  expect((await evalPrompt(setup.codex, [one], { score: () => true })).passed).toBe(1);
  expect(readdirSync(bundles.path)).toHaveLength(1);
});
