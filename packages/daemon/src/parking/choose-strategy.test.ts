// The rows of the table in docs/daemon.md ("Parked approvals").
import { describe, expect, test } from "vitest";
import type { ApprovalOffer, InboxAnswer, InboxRequest } from "../api/approval.ts";
import type { ParkedApproval, ParkedProgress } from "../inbox/parked-inbox.ts";
import { chooseStrategies, toAnswered } from "./choose-strategy.ts";
import type { ModelCall } from "./rollout-lines.ts";

const OFFERS: readonly Pick<ApprovalOffer, "id" | "accepts">[] = [
  { id: "accept", accepts: true },
  { id: "decline", accepts: false },
];
const CONTEXT = { rootThreadId: "root", mayRewind: true, isRemote: false, folder: "/work" };

interface Parked {
  readonly request: InboxRequest;
  readonly callId?: string;
  readonly threadId?: string;
  readonly progress?: ParkedProgress;
}

const toCall = (callId: string, input: string, more: Partial<ModelCall> = {}): ModelCall => ({
  callId,
  type: "function_call",
  name: "exec_command",
  namespace: undefined,
  input,
  atByte: 0,
  ...more,
});

const COMMAND: InboxRequest = {
  kind: "command",
  action: "command",
  command: "/bin/bash -lc make",
  cwd: "/work",
  reason: null,
  network: null,
  additionalPermissions: null,
};
const COMMAND_CALL = toCall("call", `{"cmd":"make"}`);
const STDIN: InboxRequest = { ...COMMAND, action: "writeStdin" };
const CONNECTION: InboxRequest = {
  ...COMMAND,
  command: null,
  network: { host: "example.com", protocol: "https" },
};
const PATCH: InboxRequest = {
  kind: "fileChange",
  reason: null,
  grantRoot: null,
  changes: [{ path: "a", kind: "add", diff: "new\n" }],
};
const PATCH_CALL = toCall("call", "*** Begin Patch\n*** Add File: a\n+new\n*** End Patch", {
  type: "custom_tool_call",
  name: "apply_patch",
});
const PERMISSIONS: InboxRequest = {
  kind: "permissions",
  cwd: "/work",
  reason: null,
  permissions: { network: { enabled: true }, fileSystem: null },
};
const PERMISSIONS_CALL = toCall("call", "{}", { name: "request_permissions" });
const QUESTION: InboxRequest = { kind: "userInput", questions: [], isBlocking: true };
const QUESTION_CALL = toCall("call", "{}", { name: "request_user_input" });
const TOOL: InboxRequest = {
  kind: "mcpTool",
  server: "till",
  tool: "pay",
  title: null,
  description: null,
  arguments: { amount: 3 },
  message: "Pay?",
};
const TOOL_CALL = toCall("call", `{"amount":3}`, { name: "pay", namespace: "mcp__till" });
const FORM: InboxRequest = {
  kind: "elicitation",
  server: "till",
  mode: "form",
  message: "Who?",
  schema: {},
  url: null,
};
const PAGE: InboxRequest = { ...FORM, mode: "url", schema: null, url: "https://example.com" };
const FORM_CALL = toCall("call", "{}", { name: "ask", namespace: "mcp__till" });
const SCRIPT = toCall("script", "…", { type: "custom_tool_call", name: "exec", namespace: "functions" });
const WAIT = toCall("script", "{}", { name: "wait", namespace: "functions" });

const ACCEPTED: InboxAnswer = { type: "decision", offer: "accept" };
const DECLINED: InboxAnswer = { type: "decision", offer: "decline" };

function answersFor({ kind }: InboxRequest): readonly [accepted: InboxAnswer, declined: InboxAnswer | null] {
  if (kind === "userInput") return [{ type: "answers", answers: { q: "yes" } }, null];
  if (kind === "elicitation") {
    return [
      { type: "elicitation", action: "accept" },
      { type: "elicitation", action: "decline" },
    ];
  }
  return [ACCEPTED, DECLINED];
}

/** Returns the strategies of requests that were all accepted, and of the same requests, all declined. */
function strategiesFor(
  parked: readonly Parked[],
  calls: readonly ModelCall[],
  context = CONTEXT,
): readonly (readonly string[])[] {
  return [0, 1].map((index) => {
    const requests = parked.map(({ request, callId = "call", threadId = "root", progress }, id) => {
      const answer = answersFor(request)[index];
      const row: Partial<ParkedApproval> = {
        id: `${id}`,
        thread_id: threadId,
        call_id: callId,
        request: JSON.stringify(request),
        answer: answer ? JSON.stringify(answer) : null,
        offers: JSON.stringify(OFFERS),
        progress: { startedItems: [], ...progress },
      };
      return toAnswered(row as ParkedApproval, calls);
    });
    return chooseStrategies(requests, context);
  });
}

describe("the strategy of a request", () => {
  test.each<[string, InboxRequest, ModelCall, accepted: string, declined: string]>([
    ["a command", COMMAND, COMMAND_CALL, "inject", "inject"],
    ["a patch", PATCH, PATCH_CALL, "inject", "inject"],
    ["permissions", PERMISSIONS, PERMISSIONS_CALL, "rewind", "inject"],
    ["a question", QUESTION, QUESTION_CALL, "inject", "inject"],
    ["an MCP tool", TOOL, TOOL_CALL, "inject", "inject"],
    ["a form", FORM, FORM_CALL, "report", "report"],
    ["a page to visit", PAGE, FORM_CALL, "report", "report"],
    ["input of a running command", STDIN, toCall("call", "{}", { name: "write_stdin" }), "report", "report"],
    ["a connection of a running command", CONNECTION, COMMAND_CALL, "report", "report"],
    [
      "a command with more permissions",
      { ...COMMAND, additionalPermissions: { network: { enabled: true }, fileSystem: null } },
      COMMAND_CALL,
      "rewind",
      "inject",
    ],
    ["a command that was not shown", COMMAND, toCall("call", `{"cmd":"rm -r /"}`), "rewind", "inject"],
    [
      "a patch in a command that is not recognised",
      PATCH,
      toCall("call", `{"cmd":"apply_patch < file"}`),
      "rewind",
      "inject",
    ],
    ["a request whose call is unknown", COMMAND, toCall("other", "{}"), "report", "report"],
  ])("for %s", (_, request, call, accepted, declined) => {
    expect(strategiesFor([{ request }], [call])).toEqual([[accepted], [declined]]);
  });

  test.each<[string, InboxRequest]>([
    ["a command", COMMAND],
    ["a patch", PATCH],
    ["an MCP tool", TOOL],
    ["a question", QUESTION],
    ["permissions", PERMISSIONS],
  ])("for %s in a script depends on whether the script has run anything", (_, request) => {
    const inScript = { request, callId: "generated" };
    expect(strategiesFor([inScript], [SCRIPT])).toEqual([["rewind"], ["rewind"]]);
    const hasRun = { ...inScript, progress: { startedItems: ["item"] } };
    expect(strategiesFor([hasRun], [SCRIPT])).toEqual([["report"], ["report"]]);
    expect(strategiesFor([inScript], [WAIT])).toEqual([["report"], ["report"]]);
  });

  test.each([
    ["a form", FORM],
    ["a page to visit", PAGE],
    ["input of a command that is running", STDIN],
    ["a connection of a command that is running", CONNECTION],
  ])("for %s in a script is always report", (_, request) => {
    expect(strategiesFor([{ request }], [SCRIPT])).toEqual([["report"], ["report"]]);
  });

  test.each<[string, InboxRequest, ModelCall, accepted: string, declined: string]>([
    ["a command", COMMAND, COMMAND_CALL, "rewind", "inject"],
    ["a patch", PATCH, PATCH_CALL, "rewind", "inject"],
    ["an MCP tool", TOOL, TOOL_CALL, "inject", "inject"],
    ["a question", QUESTION, QUESTION_CALL, "inject", "inject"],
  ])("for %s in an execution environment", (_, request, call, accepted, declined) => {
    const remote = { ...CONTEXT, isRemote: true };
    expect(strategiesFor([{ request }], [call], remote)).toEqual([[accepted], [declined]]);
  });

  test.each([COMMAND, PATCH, TOOL, QUESTION, PERMISSIONS, FORM])(
    "of a subagent is always report: $kind",
    (request) => {
      expect(strategiesFor([{ request, threadId: "agent" }], [])).toEqual([["report"], ["report"]]);
    },
  );

  test.each<[string, InboxRequest, ModelCall, accepted: string]>([
    ["a command", COMMAND, COMMAND_CALL, "report"],
    ["a patch", PATCH, PATCH_CALL, "report"],
    ["an MCP tool", TOOL, TOOL_CALL, "report"],
    ["a question", QUESTION, QUESTION_CALL, "inject"],
  ])("for %s whose answer Codex may have received", (_, request, call, accepted) => {
    const parked = { request, progress: { wasSubmitted: true } };
    expect(strategiesFor([parked], [call])).toEqual([[accepted], ["inject"]]);
  });
});

describe("requests of one response", () => {
  const asked = (request: InboxRequest, callId: string, progress?: ParkedProgress): Parked => ({
    request,
    callId,
    ...(progress && { progress }),
  });
  const calls = [{ ...COMMAND_CALL, callId: "a" }, { ...PERMISSIONS_CALL, callId: "b" }, SCRIPT];

  test("are all rewound if one must be", () => {
    const both = [asked(COMMAND, "a"), asked(PERMISSIONS, "b")];
    expect(strategiesFor(both, calls)).toEqual([
      ["rewind", "rewind"],
      ["inject", "inject"],
    ]);
  });

  test("are not rewound if something has run: what can't be injected is reported", () => {
    const progress = { startedItems: ["item"] };
    const both = [asked(COMMAND, "a", progress), asked(PERMISSIONS, "b", progress)];
    expect(strategiesFor(both, calls)[0]).toEqual(["inject", "report"]);
  });

  test("are not rewound if one must be reported", () => {
    const both = [asked(FORM, "form"), asked(PERMISSIONS, "b")];
    expect(strategiesFor(both, calls)[0]).toEqual(["report", "report"]);
  });

  test("are not rewound if another session continues the response", () => {
    const both = [asked(COMMAND, "a"), asked(PERMISSIONS, "b")];
    expect(strategiesFor(both, calls, { ...CONTEXT, mayRewind: false })[0]).toEqual(["inject", "report"]);
  });

  test("are rewound together if a script sent them", () => {
    const both = [asked(COMMAND, "generated-1"), asked(TOOL, "generated-2")];
    expect(strategiesFor(both, [SCRIPT])).toEqual([
      ["rewind", "rewind"],
      ["rewind", "rewind"],
    ]);
  });
});
