// Tests calls that fail to continue another process's turn, on the real codex.
import { callTool, say } from "@codexkit/scripted-model";
import { startAppServer } from "@codexkit/testing";
import { generateText, tool } from "ai";
import { Codex } from "codexkit";
import { expect, it } from "vitest";
import { z } from "zod";
import { threadIdOf } from "../../test/codex-stage.ts";
import { readCall } from "../call/read-call.ts";
import { createCodex } from "../index.ts";
import { callDefaults } from "../options/model-settings.ts";
import type { ApprovalRequest } from "../requests/client-request.ts";
import { adoptTurn } from "./adopt-turn.ts";
import { Sessions } from "./sessions.ts";

type Resumed = Awaited<ReturnType<Sessions["resume"]>>;

/** Gives access to the session of a call. */
class WatchedSessions extends Sessions {
  resumed: Resumed | undefined;
  onResumed: () => void = () => {};

  override async resume(...args: Parameters<Sessions["resume"]>): Promise<Resumed> {
    this.resumed = await super.resume(...args);
    this.onResumed();
    return this.resumed;
  }
}

interface OtherProcess extends AsyncDisposable {
  readonly sessions: WatchedSessions;
  readonly threadId: string;
  readonly turnId: string;
  /** Continues the waiting turn, or the named one. */
  adopt(options?: { readonly turnId?: string; readonly signal?: AbortSignal }): ReturnType<typeof adoptTurn>;
}

/** Starts a turn that waits for a tool's result, and connects another process to its server. */
async function connectToWaitingTurn(): Promise<OtherProcess> {
  await using made = new AsyncDisposableStack();
  const server = made.use(
    await startAppServer({
      model: ({ newOutputs }) => (newOutputs.length === 0 ? callTool("weather", {}) : say("ok")),
      listen: "unix",
      modelRetries: 0,
    }),
  );
  const url = server.url ?? "";
  const asking = createCodex({ connect: { url }, cwd: server.workspace, persist: true });
  const weather = tool({ inputSchema: z.object({}), outputSchema: z.string() });
  const asked = await generateText({ model: asking(), prompt: "ask", tools: { weather } });
  await asking.close();
  const threadId = threadIdOf(asked.providerMetadata);
  const turnId = asked.response.id;

  const codex = made.use(await Codex.connect(url));
  const sessions = new WatchedSessions(codex, { prestartedThreads: 0 });
  made.defer(() => sessions.close({ leaves: false }));
  const owner = made.move();
  return {
    sessions,
    threadId,
    turnId,
    adopt: async ({ turnId: wanted = turnId, signal } = {}) => {
      const defaults = callDefaults({ fetch: undefined, onWarning: undefined }, {});
      const call = await readCall("mock-model", defaults, {
        answers: { origin: { threadId, turnId: wanted }, calls: [], toolResults: [], approvals: [] },
        providerOptions: { codex: { threadId } },
        ...(signal && { abortSignal: signal }),
      });
      return adoptTurn(sessions, threadId, call);
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** Whether the session's requests still wait for a client. */
async function isOpen(session: Resumed | undefined): Promise<boolean> {
  const abort = new AbortController();
  const request = { kind: "approval", id: "late", itemId: undefined, toolName: "", input: {}, details: {} };
  const isDecided = session?.broker.approve(request as ApprovalRequest, abort.signal).then(
    () => true,
    () => false,
  );
  abort.abort();
  return (await isDecided) === false;
}

it("serves and holds the thread while the adopted turn runs", async () => {
  await using process2 = await connectToWaitingTurn();
  const step = await process2.adopt();
  expect(step?.run.turnId).toBe(process2.turnId);
  expect(process2.sessions.find(process2.threadId)).toBe(step?.session);
  expect(await isOpen(step?.session)).toBe(true);
});

it("releases the thread when the turn is not running", async () => {
  await using process2 = await connectToWaitingTurn();
  await expect(process2.adopt({ turnId: "ended" })).resolves.toBeUndefined();
  expect(process2.sessions.find(process2.threadId)).toBeUndefined();
  expect(await isOpen(process2.sessions.resumed)).toBe(false);
});

it("releases the thread when the call is aborted after the thread is resumed", async () => {
  await using process2 = await connectToWaitingTurn();
  const abort = new AbortController();
  process2.sessions.onResumed = () => abort.abort(new Error("left"));
  await expect(process2.adopt({ signal: abort.signal })).rejects.toThrow("left");
  expect(process2.sessions.find(process2.threadId)).toBeUndefined();
  expect(await isOpen(process2.sessions.resumed)).toBe(false);
});
