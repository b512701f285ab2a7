// Runs every code sample of docs/guides as a program, on the real codex and a scripted model.
import { callTool, run, say, type ScriptFunction } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import { execFile } from "node:child_process";
import { globSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

/** The expected output of each sample, in the order of the guide. */
const expectations: Readonly<Record<string, readonly RegExp[]>> = {
  approvals: [/Codex wants to run .*npm test.*\nDone\./, /allow .*\nDone\./],
  chat: [/^\[ 'approval\.opened' \]\n$/, /^$/, /^$/],
  "cli-threads": [/^$/, /^$/],
  errors: [/^Hello\.\n$/],
  "first-turn": [/^Hello\.\n\d+ tokens\n$/],
  migrating: [/^Hello\.\n$/, /^Hello\.\n$/],
  move: [/^$/],
  replay: [/^$/],
  sessions: [/^Hello\.\n[\da-f-]{36} Remember the number 42\n$/, /^1\n$/],
  streaming: [/^\$ .*ls.* \(exit code 0\)\nDone\.\n\d+ tokens\n\d+ \n$/, /^Hello\.$/],
  "structured-output": [/^a\.test\.ts 3\n$/, /^a\.test\.ts\n$/],
  terminal: [/answer: 42\r?\n[^]*exit code 0\n$/],
  testing: [/^$/, /^http:\/\/127\.0\.0\.1:\d+\/v1\n$/],
  tools: [/"temperature": -3/, /^[\da-f-]{36}\n$/],
  troubleshooting: [/^\d+\n$/, /^none\n$/],
};

const script: ScriptFunction = (request) => {
  const [output] = request.newOutputs;
  if (output) return say(request.lastUserText.includes("weather") ? output.text : "Done.");
  if (request.body["text"] !== undefined && JSON.stringify(request.body["text"]).includes("schema"))
    return say('{"file":"a.test.ts","line":3}');
  if (request.lastUserText.includes("weather")) return callTool("weather", { city: "Oslo" });
  if (request.lastUserText.includes("Run the tests"))
    return run("npm test", { escalate: "It needs the network." });
  if (request.lastUserText.includes("List the files")) return run("ls");
  return say("Hello.");
};

const samples = globSync("docs/guides/*.md", { cwd: root })
  .toSorted()
  .flatMap((path) => {
    const guide = basename(path, ".md");
    const blocks = readFileSync(join(root, path), "utf8").matchAll(/^```ts\n(?<source>[^]*?)^```$/gm);
    return Array.from(blocks, ({ groups }, index) => ({
      name: `${guide}-${index + 1}`,
      source: groups?.["source"] ?? "",
      prints: expectations[guide]?.[index],
    }));
  });

describe("the samples of the guides", () => {
  it("all have an expected output", () => {
    expect(samples.length).toBe(Object.values(expectations).flat().length);
  });

  it.each(samples)("$name", async ({ name, source, prints }) => {
    await using folders = await codexFolders({ model: script, modelName: "gpt-5.5" });
    const file = join(folders.root, `${name}.mts`);
    writeFileSync(file, source);
    symlinkSync(join(root, "node_modules"), join(folders.root, "node_modules"), "junction");
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=codexkit:source", file], {
      cwd: folders.workspace,
      env: folders.env,
    });
    expect(stdout).toMatch(prints ?? /never/);
  });
});
