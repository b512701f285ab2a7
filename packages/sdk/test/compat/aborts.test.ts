// Turns that are abandoned or aborted.
import { run } from "@codexkit/scripted-model";
import { differential } from "./differential.ts";
import { outcome, watch } from "./program.ts";

differential("aborts", {
  "an abort before and in the middle of a turn": {
    script: [[run("sleep 60")]],
    run: async ({ codex, workspace }) => {
      const options = { workingDirectory: workspace, sandboxMode: "danger-full-access" } as const;
      const before = await outcome(codex().startThread(options).run("hi", { signal: AbortSignal.abort() }));
      const stop = new AbortController();
      const during = await watch(codex().startThread(options), "hi", { signal: stop.signal }, ({ type }) => {
        if (type === "item.started") stop.abort(new Error("enough"));
      });
      return { before, during };
    },
  },
  "a reader that stops early": {
    script: [[run("sleep 60")], "here again"],
    run: async ({ codex, workspace }) => {
      const thread = codex().startThread({
        workingDirectory: workspace,
        sandboxMode: "danger-full-access",
      });
      const { events } = await thread.runStreamed("hi");
      const seen: string[] = [];
      for await (const { type } of events) {
        seen.push(type);
        if (type === "item.started") break;
      }
      return { seen, next: (await thread.run("more")).finalResponse };
    },
  },

  "a stream that is never read, and one that is read twice": {
    script: () => "done",
    run: async ({ codex, workspace, model }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      await thread.runStreamed("never");
      const { events } = await thread.runStreamed("hi");
      const types: string[] = [];
      for await (const { type } of events) types.push(type);
      for await (const { type } of events) types.push(`again ${type}`);
      return { types, requests: model.requests.length };
    },
  },
  "an abort after the turn, and one with a reason": {
    script: () => "done",
    run: async ({ codex, workspace }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      const late = new AbortController();
      const { finalResponse } = await thread.run("hi", { signal: late.signal });
      late.abort();
      const before = AbortSignal.abort(new Error("because"));
      const aborted = await outcome(thread.run("more", { signal: before }));
      return { finalResponse, aborted, after: (await thread.run("more")).finalResponse };
    },
  },
  "commands that end with their turn": {
    script: [
      [run("echo $$ > pid; exec sleep 60", { yieldMs: 250 }), run("until [ -s pid ]; do sleep 0.02; done")],
      "left",
      [run("kill -0 $(cat pid) 2>&1")],
      "done",
    ],
    run: async ({ codex, workspace, model }) => {
      const thread = codex().startThread({
        workingDirectory: workspace,
        sandboxMode: "danger-full-access",
      });
      await thread.run("leave one");
      await thread.run("is it there?");
      const output = model.requests.at(-1)?.input.at(-1)?.["output"];
      return /No such process/.test(String(output));
    },
  },
});
