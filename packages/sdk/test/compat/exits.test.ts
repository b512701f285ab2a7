// Complete programs, each in its own process: how they end, and what they print.
import { fail, run } from "@codexkit/scripted-model";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { differential } from "./differential.ts";
import type { Program, Stage } from "./program.ts";

/** A program that does not end by itself is killed after this time and fails its test. */
const LIMIT_MS = 60_000;

function program(text: string): Program {
  return {
    script: ({ lastUserText, input }) => {
      if (lastUserText === "fail") return fail.http(400, { message: "no such thing" });
      const worked = input.some(({ type }) => type === "function_call_output");
      return lastUserText === "work" && !worked ? run("echo worked") : `heard ${lastUserText}`;
    },
    modelName: "gpt-5.5",
    run: (stage) => play(stage, text),
  };
}

async function play({ sdkUrl, base, root, workspace }: Stage, text: string): Promise<unknown> {
  const file = join(root, "program.mjs");
  const prelude = `
    import { Codex } from ${JSON.stringify(sdkUrl)};
    const codex = new Codex({ codexPathOverride: ${JSON.stringify(base.codexPathOverride)} });
    const options = { workingDirectory: ${JSON.stringify(workspace)}, sandboxMode: "danger-full-access" };
    const thread = codex.startThread(options);
  `;
  await writeFile(file, `${prelude}${text}`);
  return new Promise((resolve) => {
    const args = ["--conditions=codexkit:source", file];
    execFile(process.execPath, args, { env: base.env, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      const code = error ? (error.code ?? error.signal) : 0;
      // The error class is printed too, and is a known difference.
      const thrown = /^\w*Error: (?<message>.*)$/m.exec(stderr)?.groups?.["message"];
      resolve({ code, stdout, thrown });
    });
  });
}

differential("exits", {
  "a program that runs turns and ends": program(`
    for (const text of ["one", "work", "three"]) {
      const { finalResponse, items, usage } = await thread.run(text);
      console.log(finalResponse, items.length, usage.input_tokens);
    }
  `),
  "a program that exits with its own code": program(`
    await thread.run("hi");
    console.log("done");
    process.exit(3);
  `),
  "a program that sets its exit code and ends": program(`
    process.exitCode = 5;
    console.log((await thread.run("hi")).finalResponse);
  `),
  "a program that throws after a turn": program(`
    await thread.run("hi");
    throw new Error("boom");
  `),
  "a program that does not catch a turn's failure": program(`
    await thread.run("fail");
    console.log("never");
  `),
  "a program that does not wait for its turns": program(`
    for (const text of ["one", "two"]) {
      void codex.startThread(options).run(text).then(({ finalResponse }) => console.log(finalResponse.length));
    }
  `),
  "a program that never reads its stream, and one event of another": program(`
    await thread.runStreamed("never");
    const { events } = await thread.runStreamed("hi");
    console.log((await events.next()).value.type);
  `),
  "a program that leaves a stream after its first item": program(`
    const { events } = await thread.runStreamed("work");
    for await (const { type } of events) if (type === "item.completed") break;
    console.log((await thread.run("after")).finalResponse);
  `),
  "a program whose turn is aborted": program(`
    const stop = new AbortController();
    const { events } = await thread.runStreamed("work", { signal: stop.signal });
    try {
      for await (const { type } of events) if (type === "thread.started") stop.abort();
    } catch (error) {
      console.log(error.name, error.code);
    }
  `),
});
