// Runs programs for `@openai/codex-sdk` with that package and with this one, on the same codex and the same scripted model.
// What the original returned is in `recordings/`. Only the soak tests run the original again: its release and that of codex are
// pinned, so that it does the same in every run. To record again: `npm run soak -- compat -u`.
import { type CodexFolders, codexFolders, isSoak } from "@codexkit/testing";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import * as compat from "../../src/compat/index.ts";
import { closeServers } from "../../src/compat/server-pool.ts";
import { findCodex } from "../../src/process/find-codex.ts";
import type { Program, Programs, Stage } from "./program.ts";

const ours = new URL("../../src/compat/index.ts", import.meta.url).href;
const original = findOriginal();
/** A program takes about a second, and many times as long on a busy machine. */
const TIMEOUT_MS = 120_000;
const docs = new URL("../../../../docs/compat.md", import.meta.url);

/** Registers the tests of each program: this package does what is recorded and, in the soak tests, the original still does. */
export function differential(title: string, programs: Programs): void {
  describe(`programs for @openai/codex-sdk: ${title}`, { timeout: TIMEOUT_MS }, () => {
    afterAll(closeServers);
    for (const [name, program] of Object.entries(programs)) {
      const recording = recordingOf(name);
      testOriginal(name, program, recording);

      it(`${name}: codexkit/compat does what is recorded`, async () => {
        expect(JSON.parse(await perform(program, ours))).toEqual(
          JSON.parse(await readFile(recording, "utf8")),
        );
      });
    }
  });
}

/** Registers programs that the packages run differently, with a recording for each. */
export function differences(programs: Programs): void {
  describe("programs for @openai/codex-sdk: known differences", { timeout: TIMEOUT_MS }, () => {
    afterAll(closeServers);
    for (const [name, program] of Object.entries(programs)) {
      testOriginal(name, program, recordingOf(`${name} original`));

      it(`${name}: codexkit/compat does what is recorded`, async () => {
        await expect(await perform(program, ours)).toMatchFileSnapshot(recordingOf(`${name} compat`));
        const rows = (await readFile(docs, "utf8")).split("\n").map((line) => line.split("|")[1]?.trim());
        expect(rows).toContain(name);
      });
    }
  });
}

/** Registers a test in the soak tests, if the original is installed: only the benchmarks depend on it. */
function testOriginal(name: string, program: Program, recording: string): void {
  if (!isSoak || original === undefined) return;
  it(`${name}: the original does what is recorded`, async () => {
    await expect(await perform(program, original)).toMatchFileSnapshot(recording);
  });
}

function recordingOf(name: string): string {
  const file = `./recordings/${name.replaceAll(/\W+/g, "-")}.snap`;
  return fileURLToPath(new URL(file, import.meta.url));
}

function findOriginal(): string | undefined {
  try {
    const found = findPackageJSON("@openai/codex-sdk", new URL("../../../../bench/", import.meta.url));
    return found === undefined ? undefined : pathToFileURL(join(dirname(found), "dist/index.js")).href;
  } catch {
    return undefined;
  }
}

/** Runs a program in its own folders and returns its result as text, without what differs between runs. */
async function perform({ script, modelName, run: play }: Program, sdkUrl: string): Promise<string> {
  const sdk = sdkUrl === ours ? compat : ((await import(sdkUrl)) as Pick<typeof compat, "Codex">);
  await using folders = await codexFolders({
    model: script,
    modelRetries: 0,
    ...(modelName === undefined ? {} : { modelName }),
  });
  await mkdir(join(folders.workspace, ".git"));
  await writeFile(join(folders.workspace, ".git/HEAD"), "ref: refs/heads/main\n");
  const base = { codexPathOverride: findCodex().path, env: folders.env as Record<string, string> };
  const codex: Stage["codex"] = (options = {}) => new sdk.Codex({ ...base, ...options });
  try {
    return normal(await play({ ...folders, codex, base, sdkUrl }), folders);
  } finally {
    await closeServers();
  }
}

function normal(seen: unknown, { root, model }: CodexFolders): string {
  const uuids: string[] = [];
  return (
    `${JSON.stringify(seen, undefined, 2)}\n`
      .replaceAll(root, "<root>")
      .replaceAll(process.cwd(), "<cwd>")
      .replaceAll(new URL(model.url).host, "<host>")
      .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, (uuid) => {
        if (!uuids.includes(uuid)) uuids.push(uuid);
        return `<uuid ${uuids.indexOf(uuid)}>`;
      })
      .replaceAll(/<(?<tag>current_date|timezone|shell)>[^<]*/g, "<$<tag>>…")
      // Errors of the original end with codex's stderr, including log lines and backtraces.
      .replaceAll(/\\n\\nStack backtrace:(?:\\n *\d+: <unknown>)*/g, "")
      .replaceAll(/\d{4}-\d\d-\d\dT[^ ]+Z ERROR (?:(?!\\n).)*\\n/g, "")
  );
}
