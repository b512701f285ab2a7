// Misspelt options and values of the wrong type, which callers without type checking may pass.
import type { Codex } from "codexkit";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  Budget,
  Deadline,
  definePrompt,
  definePromptTool,
  defineResource,
  defineSlice,
  evalPrompt,
  evaluate,
  openWorkspace,
  runAgent,
} from "./index.ts";

/* oxlint-disable typescript/no-explicit-any -- the point of these calls is that they have no types */
const codex = { startThread: () => {} } as unknown as Codex;
const sections = [{ key: "task", title: "Task", render: "Do it." }];
const hello = definePrompt({ ns: "test", key: "hello", sections });
const prompt = (options: object) => () => definePrompt({ ns: "test", key: "p", sections, ...options } as any);
const section = (options: object) => prompt({ sections: [{ ...sections[0], ...options }] });
const tool = (options: object) => () =>
  definePromptTool({
    name: "t",
    description: "d",
    input: z.object({}),
    handler: () => "",
    ...options,
  } as any);
const run = (options: object) => () => evaluate(codex, hello.bind(), options as any);
const agent = (options: object) => () =>
  runAgent((async function* () {})(), {
    codex,
    prompt: () => hello.bind(),
    onResult: () => {},
    ...options,
  } as any);
const evals = (options: object) => () => evalPrompt(codex, [], { score: () => true, ...options } as any);
const none = (async function* () {})();

test.for<readonly [call: () => unknown, message: RegExp]>([
  [prompt({ ns: "Test" }), /A prompt's ns must have 1 to 64 characters .* got "Test"/],
  [prompt({ ns: undefined }), /A prompt's ns .* got undefined/],
  [prompt({ sectons: [] }), /definePrompt has no option "sectons". Did you mean "sections"\?/],
  [prompt({ sections: [] }), /test\/p has no sections/],
  [prompt({ sections: undefined }), /sections must be an array of sections/],
  [prompt({ tools: {} }), /tools must be an array of tools, got an object/],
  [
    prompt({ tools: [{ name: "x" }] }),
    /A tool of test\/p must be created by definePromptTool, got an object \(name\)/,
  ],
  [prompt({ policies: [{ name: "x" }] }), /policy "x" must be an object with a check method/],
  [prompt({ completion: () => true }), /completion must be an object with a check method, got a function/],
  [prompt({ feedback: [{ name: "f", triggers: [], provide: () => "" }] }), /needs .* at least one trigger/],
  [
    prompt({ feedback: [{ name: "f", triggers: [{ everyCall: 5 }], provide: () => "" }] }),
    /invalid trigger {"everyCall":5}. Use { everyCalls: n }/,
  ],
  [section({ title: "" }), /Section "task" of test\/p has no title/],
  [section({ render: 5 }), /render must be a string or a function/],
  [section({ visiblity: "summary" }), /no option "visiblity". Did you mean "visibility"\?/],
  [
    section({ visibility: "hidden", summary: "s" }),
    /visibility must be "full", "summary" or a function, got "hidden"/,
  ],
  [section({ visibility: "summary" }), /can be summarised but has no summary/],
  [section({ enabled: true }), /enabled must be a function, got true/],
  [section({ skills: [{ name: "s", path: "relative" }] }), /path must be an absolute path, got "relative"/],
  [tool({ name: "Bad Name" }), /A tool's name must have 1 to 64 characters .* got "Bad Name"/],
  [tool({ handler: undefined }), /The tool "t" needs a handler function/],
  [tool({ execute: () => "" }), /definePromptTool has no option "execute"/],
  [tool({ timeoutMs: "5" }), /timeoutMs must be a number above 0, got "5"/],
  [tool({ input: z.string() }), /object/],
  [() => defineSlice({ name: "", schema: z.any(), initial: 0 }), /A slice needs a name/],
  [() => defineSlice({ name: "s", initial: 0 } as any), /Slice "s" needs a schema/],
  [
    () => defineSlice({ name: "s", schema: z.any(), kind: "logs", initial: 0 } as any),
    /"state" or "log", got "logs"/,
  ],
  [() => defineSlice({ name: "s", schema: z.any(), inital: 0 } as any), /Did you mean "initial"\?/],
  [() => defineResource({ name: "r" } as any), /Resource "r" needs a create function/],
  [
    () => defineResource({ name: "r", create: () => 1, snapshot: () => 1 }),
    /only one of snapshot and restore/,
  ],
  [() => new Budget({}), /at least one limit: totalTokens, inputTokens, outputTokens, usd/],
  [() => new Budget({ totalTokens: "5" } as any), /totalTokens must be a number above 0, got "5"/],
  [() => new Budget({ totalTokens: 5, maxCost: 1 } as any), /Budget has no option "maxCost"/],
  [
    () => new Budget({ usd: 1, prices: { m: { inputPerMillion: 1 } } } as any),
    /prices\["m"\].outputPerMillion must be a non-negative number of US dollars/,
  ],
  [() => new Deadline("tomorrow" as any), /a valid Date or a number .* got tomorrow/],
  [() => Deadline.in("5" as any), /milliseconds must be a number, got "5"/],
  [() => openWorkspace({ folder: "relative" }), /must be the absolute path of a folder, got "relative"/],
  [
    () => openWorkspace({ folder: "/tmp", allowedRoots: ["/"] }),
    /`allowedRoots` has no effect on a `folder`/,
  ],
  [() => openWorkspace({ mount: [] } as any), /Did you mean "mounts"\?/],
  [() => openWorkspace({ mounts: "/tmp" } as any), /mounts must be an array of mounts, got "\/tmp"/],
  [
    run({ budget: { totalTokens: 5 } }),
    /budget must be a Budget: new Budget\(.* got an object \(totalTokens\)/,
  ],
  [run({ deadline: 5_000 }), /deadline must be a Deadline: Deadline.in\(60_000\), got 5000/],
  [run({ session: {} }), /session must be a PromptSession, got an object \(empty\)/],
  [run({ workspace: "/tmp" }), /workspace must be a Workspace from openWorkspace, got "\/tmp"/],
  [run({ signal: 5 }), /signal must be an AbortSignal, got 5/],
  [run({ onFailure: "rollback" }), /onFailure must be "keep" or "restore", got "rollback"/],
  [run({ onFailure: "restore" }), /"restore" needs a workspace/],
  [run({ maxContinuations: -1 }), /maxContinuations must be a whole number of at least 0, got -1/],
  [run({ transcript: [] }), /transcript must be a function, got an array/],
  [run({ bundle: true }), /bundle must be the path of a folder, got true/],
  [run({ thread: { cwd: "relative" } }), /thread.cwd must be an absolute path, got "relative"/],
  [run({ thread: { sandboxMode: "read-only" } }), /Did you mean "sandbox"\?/],
  [run({ thread: { seed: 1 } }), /evaluate.thread has no option "seed"/],
  [run({ thread: { approvalPolicy: "always" } }), /Unknown approval policy "always". Valid values: never/],
  [run({ model: "x" }), /evaluate has no option "model"/],
  [() => runAgent([] as any, {} as any), /requests must be an async iterable/],
  [() => runAgent(none, { codex } as any), /prompt must be a function, got null/],
  [agent({ onresult: () => {} }), /Did you mean "onResult"\?/],
  [agent({ concurrency: 0 }), /concurrency must be a whole number of at least 1, got 0/],
  [agent({ heartbeatIntervalMs: "5" }), /heartbeatIntervalMs must be a number of milliseconds, got "5"/],
  [() => evalPrompt(codex, {} as any, {} as any), /cases must be an array of cases, got an object/],
  [evals({ score: undefined }), /score must be a function, got null/],
  [evals({ concurrency: Number.NaN }), /concurrency must be a whole number of at least 1, got NaN/],
  [evals({ threshold: 80 }), /threshold must be a number from 0 to 1, got 80/],
  [evals({ treshold: 1 }), /Did you mean "threshold"\?/],
])("%s is rejected with a message that says what to do", async ([call, message]) => {
  await expect((async () => call())()).rejects.toThrow(message);
});
