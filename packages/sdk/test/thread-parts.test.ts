import { describe, expect, it } from "vitest";
import { FakeCaller, settled } from "./fake-caller.ts";
import { ThreadGoal } from "../src/thread/goal.ts";
import { ThreadHistory } from "../src/thread/history.ts";
import { ThreadQueue } from "../src/thread/queue.ts";
import { ThreadTerminals } from "../src/thread/terminals.ts";
import type { ThreadCaller } from "../src/thread/thread-caller.ts";

/** A thread whose calls are answered with a fixed result per method; pages come from `data`. */
function threadWith(answers: Record<string, unknown>): { thread: ThreadCaller; caller: FakeCaller } {
  const caller = new FakeCaller();
  caller.respond = ({ method, answer }) => answer(answers[method] ?? {});
  const request = caller.request as unknown as ThreadCaller["request"];
  const thread: ThreadCaller = {
    id: "thread",
    inputContext: { cwd: "/work", local: false },
    request,
    pages: async function* (method, params) {
      const { data } = (await request(method, params)) as unknown as { data: never[] };
      yield* data;
    },
  };
  return { thread, caller };
}

const made = ({ calls }: FakeCaller): [string, object][] =>
  calls.map(({ method, params }) => [method, params]);

describe("the parts of a thread", () => {
  it("queue: adds, lists, changes, orders, starts and deletes", async () => {
    const submission = { id: "q", input: [], clientUserMessageId: "m" };
    const { thread, caller } = threadWith({
      "thread/queue/add": { queuedSubmission: submission },
      "thread/queue/list": { data: [submission] },
    });
    const queue = new ThreadQueue(thread);
    expect(await queue.add("later")).toEqual(submission);
    expect(await queue.list()).toEqual([submission]);
    await queue.update("q", "even later");
    await queue.reorder(["q"]);
    await queue.start();
    await queue.start("q");
    await queue.delete("q");
    expect(made(caller)).toMatchObject([
      [
        "thread/queue/add",
        {
          input: [{ type: "text", text: "later" }],
          clientUserMessageId: expect.stringMatching(/^[\da-f-]{36}$/),
        },
      ],
      ["thread/queue/list", {}],
      ["thread/queue/update", { queuedSubmissionId: "q", input: [{ type: "text", text: "even later" }] }],
      ["thread/queue/reorder", { queuedSubmissionIds: ["q"] }],
      ["thread/queue/start", {}],
      ["thread/queue/start", { queuedSubmissionId: "q" }],
      ["thread/queue/delete", { queuedSubmissionId: "q" }],
    ]);
  });

  it("goal: sets, gets and clears", async () => {
    const { thread, caller } = threadWith({
      "thread/goal/get": { goal: null },
      "thread/goal/set": { goal: { objective: "ship" } },
    });
    const goal = new ThreadGoal(thread);
    expect(await goal.get()).toBeNull();
    expect(await goal.set({ objective: "ship" })).toEqual({ objective: "ship" });
    await goal.clear();
    expect(made(caller)).toEqual([
      ["thread/goal/get", {}],
      ["thread/goal/set", { objective: "ship" }],
      ["thread/goal/clear", {}],
    ]);
  });

  it("history: reads pages newest first by default, and on demand", async () => {
    const { thread, caller } = threadWith({
      "thread/turns/list": { data: [{ id: "t" }] },
      "thread/items/list": { data: [{ id: "i" }] },
      "thread/searchOccurrences": { data: [{ text: "x" }] },
    });
    const history = new ThreadHistory(thread);
    const turns = history.turns();
    await settled();
    expect(caller.calls).toEqual([]);
    expect(await Array.fromAsync(turns)).toEqual([{ id: "t" }]);
    expect(await Array.fromAsync(history.items({ sortDirection: "asc" }))).toEqual([{ id: "i" }]);
    expect(await Array.fromAsync(history.search("needle"))).toEqual([{ text: "x" }]);
    expect(made(caller)).toEqual([
      ["thread/turns/list", { sortDirection: "desc" }],
      ["thread/items/list", { sortDirection: "asc" }],
      ["thread/searchOccurrences", { searchTerm: "needle" }],
    ]);
  });

  it("terminals: lists and ends", async () => {
    const { thread, caller } = threadWith({
      "thread/backgroundTerminals/list": { data: [{ processId: "7" }] },
    });
    const terminals = new ThreadTerminals(thread);
    expect(await terminals.list()).toEqual([{ processId: "7" }]);
    await terminals.terminate("7");
    await terminals.clean();
    expect(made(caller).slice(1)).toEqual([
      ["thread/backgroundTerminals/terminate", { processId: "7" }],
      ["thread/backgroundTerminals/clean", {}],
    ]);
  });
});
