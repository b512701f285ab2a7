import fc from "fast-check";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineResource } from "../resources/define-resource.ts";
import { ResourceScope } from "../resources/resource-scope.ts";
import { ToolInvoked } from "../session/session-event.ts";
import { PromptSession } from "../session/session.ts";
import { defineSlice } from "../session/slice.ts";
import { openWorkspace } from "../workspace/open-workspace.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type AnyPromptTool, definePromptTool, ToolFailure } from "../tools/define-prompt-tool.ts";
import { type DispatchContext, ToolDispatcher } from "./tool-dispatcher.ts";
import type { ToolPolicy } from "../tools/tool-policy.ts";

const items = defineSlice<readonly string[]>({ name: "items", schema: z.array(z.string()), initial: [] });
const cart = defineResource({
  name: "cart",
  create: () => new Map<string, number>(),
  snapshot: (map) => new Map(map),
  restore: (map, before) => {
    map.clear();
    for (const [name, count] of before) map.set(name, count);
  },
});

/** Changes the session, a resource and files, and fails if the input says so. */
const change = definePromptTool({
  name: "change",
  description: "Changes everything",
  input: z.strictObject({ name: z.string(), text: z.string(), fails: z.boolean(), direct: z.boolean() }),
  handler: async ({ name, text, fails, direct }, { session, resources, workspace }) => {
    const map = await resources.get(cart);
    session.update(items, (all) => [...all, text]);
    map.set(name, (map.get(name) ?? 0) + 1);
    if (workspace && direct) writeFileSync(join(workspace.root, name), text);
    else workspace?.writeText(name, text);
    await Promise.resolve();
    if (fails) throw new ToolFailure("asked to fail");
    return text;
  },
});

interface Setup {
  readonly dispatcher: ToolDispatcher;
  readonly session: PromptSession;
  readonly resources: ResourceScope;
  readonly warnings: string[];
}

function setUp(overrides: Partial<DispatchContext> = {}): Setup {
  const session = new PromptSession();
  const resources = ResourceScope.open();
  const warnings: string[] = [];
  const dispatcher = new ToolDispatcher({
    evaluationId: "e",
    prompt: "p",
    session,
    resources,
    workspace: undefined,
    deadline: undefined,
    budget: undefined,
    feedback: [],
    startedAt: 0,
    now: () => 0,
    refusal: () => undefined,
    codexActivity: () => ({ started: 0, running: 0 }),
    fileExists: () => false,
    onEvent: (event) => session.dispatch(event),
    onProgress: () => {},
    onWarning: (message) => warnings.push(message),
    ...overrides,
  });
  return { dispatcher, session, resources, warnings };
}

const sdk = (callId: string, signal = new AbortController().signal) => ({
  signal,
  threadId: "t",
  turnId: "u",
  callId,
  tool: "change",
});

const rendered = (tool: AnyPromptTool, policies: readonly ToolPolicy[] = []) => ({
  tool,
  description: tool.description,
  policies,
  closedBy: undefined,
});

const call = fc.record({
  name: fc.constantFrom("a", "b", "d/c"),
  text: fc.string({ maxLength: 4 }),
  fails: fc.boolean(),
  direct: fc.constant(false),
});

test("any sequence of successes and failures equals applying only the successes, even when calls overlap", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 8 }), fc.boolean(), async (calls, overlap) => {
      await using workspace = openWorkspace();
      await using expected = openWorkspace();
      const { dispatcher, session, resources } = setUp({ workspace });
      await using _scope = resources;
      const map = await resources.get(cart);

      const run = async (input: (typeof calls)[number], index: number): Promise<unknown> =>
        dispatcher.call(rendered(change), input, sdk(`${index}`)).catch((error: unknown) => error);
      if (overlap) await Promise.all(calls.map(run));
      else for (const [index, input] of calls.entries()) await run(input, index);

      const successes = calls.filter(({ fails }) => !fails);
      for (const { name, text } of successes) expected.writeText(name, text);
      expect(session.get(items)).toEqual(successes.map(({ text }) => text));
      const counts = Map.groupBy(successes, ({ name }) => name);
      expect(new Map(map)).toEqual(new Map([...counts].map(([name, group]) => [name, group.length])));
      expect(await contentOf(workspace)).toBe(await contentOf(expected));
      expect(session.eventsOf(ToolInvoked).map(({ success }) => success)).toEqual(
        calls.map(({ fails }) => !fails),
      );
    }),
    { numRuns: 40 },
  );
});

/** Folders created by a failed call are removed too, so that the fingerprints are equal. */
async function contentOf(workspace: Workspace): Promise<string> {
  return workspace.fingerprint();
}

test("while a Codex command is running, only the handler's own writes are restored", async () => {
  await using workspace = openWorkspace();
  workspace.writeText("own", "before");
  workspace.writeText("other", "before");
  const { dispatcher, session, resources } = setUp({
    workspace,
    codexActivity: () => ({ started: 1, running: 1 }),
  });
  await using _scope = resources;
  const both = definePromptTool({
    name: "both",
    description: "Writes one file itself while another changes",
    input: z.strictObject({}),
    handler: () => {
      workspace.writeText("own", "after");
      writeFileSync(join(workspace.root, "other"), "after");
      throw new ToolFailure("failed");
    },
  });

  await expect(dispatcher.call(rendered(both), {}, sdk("1"))).rejects.toThrow(
    /could not be restored.*other/s,
  );

  expect(workspace.readText("own")).toBe("before");
  expect(workspace.readText("other")).toBe("after");
  expect(session.eventsOf(ToolInvoked)).toMatchObject([{ success: false, conflicts: ["other"] }]);
});

test("policies run in order, all must allow, and successes are recorded", async () => {
  const log: string[] = [];
  const policy = (name: string, isAllowed: boolean): ToolPolicy => ({
    name,
    check: () => {
      log.push(`check ${name}`);
      return isAllowed ? { allow: true } : { allow: false, reason: "no" };
    },
    onSuccess: () => {
      log.push(`success ${name}`);
    },
  });
  const { dispatcher, resources } = setUp();
  await using _scope = resources;
  const input = { name: "a", text: "t", fails: false, direct: false };

  await dispatcher.call(rendered(change, [policy("one", true), policy("two", true)]), input, sdk("1"));
  await dispatcher
    .call(rendered(change, [policy("three", false), policy("four", true)]), input, sdk("2"))
    .catch(() => {});

  expect(log).toEqual(["check one", "check two", "success one", "success two", "check three"]);
});

test("an aborted call has no effect even if its handler succeeds", async () => {
  const abort = new AbortController();
  const { dispatcher, session, resources } = setUp();
  await using _scope = resources;
  const stubborn = definePromptTool({
    name: "stubborn",
    description: "Ignores its signal",
    input: z.strictObject({}),
    handler: (_input, { session: own }) => {
      own.update(items, (all) => [...all, "x"]);
      abort.abort(new Error("turn ended"));
      return "done";
    },
  });

  await expect(dispatcher.call(rendered(stubborn), {}, sdk("1", abort.signal))).rejects.toThrow(/turn ended/);

  expect(session.get(items)).toEqual([]);
});

test("nothing runs once the evaluation must stop", async () => {
  const { dispatcher, session, resources } = setUp({ refusal: () => "The budget is exceeded." });
  await using _scope = resources;

  const input = { name: "a", text: "t", fails: false, direct: false };
  await expect(dispatcher.call(rendered(change), input, sdk("1"))).rejects.toThrow("The budget is exceeded.");
  expect(session.get(items)).toEqual([]);
});

test("output that does not match its schema fails the call", async () => {
  const { dispatcher, session, resources } = setUp();
  await using _scope = resources;
  const wrong = definePromptTool({
    name: "wrong",
    description: "Returns the wrong type",
    input: z.strictObject({}),
    output: z.number(),
    handler: () => "text" as unknown as number,
  });

  await expect(dispatcher.call(rendered(wrong), {}, sdk("1"))).rejects.toThrow(/output schema rejects/);
  expect(session.eventsOf(ToolInvoked)).toMatchObject([{ success: false }]);
});

test("a resource that a failed call created is reset to its initial state", async () => {
  const { dispatcher, resources } = setUp();
  await using _scope = resources;
  const input = { name: "a", text: "", fails: true, direct: false };
  await expect(dispatcher.call(rendered(change), input, sdk("1"))).rejects.toThrow("asked to fail");
  expect(await resources.get(cart)).toEqual(new Map());
  await dispatcher.call(rendered(change), { ...input, fails: false }, sdk("2"));
  expect(await resources.get(cart)).toEqual(new Map([["a", 1]]));
});

test("a resource that can't be restored is reported, and all other changes are undone", async () => {
  const broken = defineResource({
    name: "broken",
    create: () => ({}),
    snapshot: () => 0,
    restore: () => {
      throw new Error("is broken");
    },
  });
  const useBoth = definePromptTool({
    name: "use_both",
    description: "Uses both",
    input: z.strictObject({}),
    handler: async (_input, { session, resources, workspace }) => {
      await resources.get(broken);
      (await resources.get(cart)).set("a", 1);
      session.update(items, (all) => [...all, "a"]);
      workspace?.writeText("a", "text");
      throw new Error("does not work");
    },
  });
  await using workspace = openWorkspace();
  const { dispatcher, resources, session, warnings } = setUp({ workspace });
  await using _scope = resources;

  await expect(dispatcher.call(rendered(useBoth), {}, sdk("1"))).rejects.toThrow(
    "The tool failed: does not work\nSome of its changes could not be undone: is broken",
  );
  expect(await resources.get(cart)).toEqual(new Map());
  expect(session.get(items)).toEqual([]);
  expect(workspace.exists("a")).toBe(false);
  expect(warnings).toEqual(["Some changes made by the tool use_both could not be undone."]);
});

test.for([undefined, null, true, false, {}, { allow: "yes" }, "allow"])(
  "a policy that returns %j instead of a verdict denies the call",
  async (verdict) => {
    const { dispatcher, resources, session } = setUp();
    await using _scope = resources;
    const policy: ToolPolicy = { name: "odd", check: () => verdict as never };
    const input = { name: "a", text: "", fails: false, direct: false };
    await expect(dispatcher.call(rendered(change, [policy]), input, sdk("1"))).rejects.toThrow(
      'The policy "odd" returned an invalid verdict, so the call is denied.',
    );
    expect(session.get(items)).toEqual([]);
  },
);

test("a handler can't change a state in place", async () => {
  const push = definePromptTool({
    name: "push",
    description: "Changes a state in place",
    input: z.strictObject({}),
    handler: (_input, { session }) => (session.get(items) as string[]).push("in place"),
  });
  const { dispatcher, resources, session } = setUp();
  await using _scope = resources;
  session.update(items, () => ["a"]);
  await expect(dispatcher.call(rendered(push), {}, sdk("1"))).rejects.toThrow(/not extensible/);
  expect(session.get(items)).toEqual(["a"]);
  expect(new PromptSession().get(items)).toEqual([]);
});
