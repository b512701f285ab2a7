import type { Approval, Session } from "@codexkit/daemon/client";
import { askUser, patch, run, say, type ScriptFunction } from "@codexkit/scripted-model";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CliTerminal } from "./cli-terminal.ts";
import { startTestDaemon, type TestDaemon } from "./test-daemon.ts";

const script: ScriptFunction = ({ lastUserText, newOutputs }) => {
  if (newOutputs.length > 0) return say("Done.");
  if (lastUserText === "patch") {
    return patch(
      `*** Begin Patch\n*** Add File: ${join(daemon.folders.root, "note.txt")}\n+hello\n*** End Patch\n`,
    );
  }
  if (lastUserText === "ask") {
    const options = [
      { label: "blue", description: "like the sky" },
      { label: "red", description: "like a rose" },
    ];
    return askUser([{ id: "colour", header: "Colour", question: "Which colour?", options }]);
  }
  return run(lastUserText, { escalate: "It needs the network." });
};

let daemon: TestDaemon;
let session: Session;
beforeAll(async () => {
  daemon = await startTestDaemon(script);
  session = (
    await daemon.client.createSession(
      { cwd: daemon.workspace, permissionMode: "read-only" },
      { wait: 20_000 },
    )
  ).session;
});
afterAll(async () => daemon[Symbol.asyncDispose]());

/** Sends a message, and resolves to the approval that it leads to. */
async function open(message: string): Promise<Approval> {
  await daemon.client.send(session.id, message);
  for await (const event of daemon.client.sessionEvents(session.id, { after: session.lastSeq })) {
    if (/^turn\.(?:completed|failed|interrupted)$/.test(event.type)) break;
    if (event.type !== "inbox.opened") continue;
    return daemon.client.request("GET /inbox/{approvalId}", { params: { approvalId: event.approvalId } });
  }
  throw new Error("The turn ended without an approval.");
}

/** Resolves when the turn has ended, with the output of its command. */
async function outcome(): Promise<string> {
  const after = session.lastSeq;
  for await (const event of daemon.client.sessionEvents(session.id, { after })) {
    if (!event.type.startsWith("turn.") || event.type === "turn.started") continue;
    session = await daemon.client.request("GET /sessions/{sessionId}", { params: { sessionId: session.id } });
    return event.type;
  }
  return "deleted";
}

describe("without a terminal", () => {
  test("lists, shows and approves a command, with the verdict on each part", async () => {
    const { id } = await open("touch one && frob two");
    const listed = await daemon.run(["inbox"]);
    const shown = await daemon.run(["inbox", "show", id.slice(0, 30)]);

    expect(listed.stdout).toContain("touch one && frob two");
    expect(
      shown.stdout.split("\n").filter((line) => !line.includes(id) && !line.includes("acceptWithPrefix")),
    ).toEqual([
      "The agent wants to run a command outside the sandbox",
      "  $ touch one && frob two",
      `  in ${daemon.workspace}`,
      "  The agent says: It needs the network.",
      expect.stringMatching(/^ {2}The policy: (?:ask|deny), /) as string,
      expect.stringMatching(/^ {4}(?:ask|deny) +touch one/) as string,
      expect.stringMatching(/^ {4}(?:ask|deny) +frob two/) as string,
      "  Offers:",
      "    accept  Accept",
      expect.stringMatching(/^ {4}acceptForSession/) as string,
      "    decline  Decline and continue",
      "    cancel  Decline and stop the turn",
      "",
    ]);

    const declined = await daemon.run(["inbox", "decline", "--reason", "no", id]);
    expect(declined).toEqual({ exitCode: 0, stdout: `Declined ${id}: touch one && frob two\n`, stderr: "" });
    expect(await outcome()).toBe("turn.completed");
    const again = await daemon.run(["inbox", "approve", id]);
    expect(again.exitCode).toBe(1);
    expect(again.stderr).toContain(`${id} has already been answered`);
  });

  test("shows hidden characters of a command before and after it is approved", async () => {
    const visible = String.raw`touch hidden #\x0d\u202e\x1b[2Kecho harmless`;
    const { id } = await open("touch hidden #\r\u202e\u001b[2Kecho harmless");
    const listed = await daemon.run(["inbox"]);
    const shown = await daemon.run(["inbox", "show", id]);
    const approved = await daemon.run(["inbox", "approve", id]);
    await outcome();
    const transcript = await daemon.run(["sessions", "show", session.id]);

    expect(listed.stdout).toContain(visible);
    expect(shown.stdout).toContain(`(remembers /bin/bash -lc ${visible})`);
    expect(approved.stdout).toBe(`Approved ${id}: ${visible}\n`);
    expect(transcript.stdout).toContain(`$ ${visible}\n`);
    for (const { stdout } of [listed, shown, approved, transcript]) {
      // oxlint-disable-next-line no-control-regex
      expect(stdout).not.toMatch(/[\r\u001b\u202e]/);
    }
  });

  test("refuses an option for another kind of request", async () => {
    const { id } = await open("touch refused");
    const [answered, filled] = await Promise.all([
      daemon.run(["inbox", "approve", "--answer", "foo", id]),
      daemon.run(["inbox", "approve", "--content", "{}", id]),
    ]);
    expect(answered).toMatchObject({ exitCode: 2, stdout: "" });
    expect(answered.stderr).toContain("--answer can't be used to answer an approval.");
    expect(filled).toMatchObject({ exitCode: 2, stdout: "" });
    await daemon.client.answer(id, { type: "decision", offer: "decline" });
    expect(await outcome()).toBe("turn.completed");
  });

  test("approves for the session, and answers a question", async () => {
    const command = await open("touch three");
    expect(await daemon.json(["inbox", "approve", "--for", "session", command.id])).toMatchObject([
      { id: command.id, answer: { type: "decision", offer: "acceptForSession" } },
    ]);
    expect(await outcome()).toBe("turn.completed");
  });

  test.each([
    [["approve", "nope"], 1, 'There is no open or parked approval "nope".'],
    [["approve", ""], 2, "The ID of the approval is empty."],
    [["decline", "0"], 2, '"0" is too short to identify an approval.'],
    [["list", "--session", ""], 2, "The ID of the session is empty."],
    [["show", "nope"], 1, "Run `codexkit inbox list` to see the entries that can be answered."],
    [["approve", "--for", "ever", "x"], 2, "Allowed choices are call, session, always."],
    [["list", "--session", "nope"], 1, 'There is no session "nope".'],
  ])("%j exits with %d", async (args, exitCode, message) => {
    const result = await daemon.run(["inbox", ...args]);

    expect(result).toMatchObject({ exitCode, stdout: "" });
    expect(result.stderr).toContain(message);
  });

  test("an empty inbox says so", async () => {
    expect(await daemon.run(["inbox"])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "Nothing is waiting for an answer.\n",
    });
  });
});

describe.each([
  { columns: 80, env: { NO_COLOR: "1" } },
  { columns: 120, env: {} },
])("on a terminal of $columns columns", ({ columns, env }) => {
  const review = (): CliTerminal => daemon.open(["inbox"], { columns, env });

  test("shows the diff, and sends the answer", async () => {
    const { id } = await open("patch");
    await using terminal = review();
    await terminal.waitFor("Decide later");
    const question = terminal.text.replace(id, "ID").replaceAll(daemon.folders.root, "ROOT");
    terminal.write("\u001b[A\u001b[A\r");

    expect(await terminal.exited).toBe(0);
    expect(question.split("\n").filter((line) => line !== "" && !line.includes("ID,"))).toEqual([
      "The agent wants to change files",
      "± ROOT/note.txt added",
      "  +hello",
      ...question.split("\n").filter((line) => line.startsWith("  The ")),
      "│",
      "◆  Allow this?",
      expect.stringMatching(/^│ {2}○ Accept/) as string,
      "│  ○ Accept for this session",
      "│  ● Decline and continue",
      "│  ○ Decline and stop the turn",
      "│  ○ Decide later",
      "│  ↑/↓ to navigate • Enter: confirm",
      "└",
    ]);
    expect(terminal.text).toContain("That was all.");
    expect(terminal.raw.includes("\u001B[32m")).toBe(env.NO_COLOR === undefined);
    expect(await outcome()).toBe("turn.completed");
  });

  test("an approval that is answered elsewhere closes the question", async () => {
    const { id } = await open("touch four");
    await using terminal = review();
    await terminal.waitFor("Decide later");
    await daemon.client.answer(id, { type: "decision", offer: "decline" });

    expect(await terminal.exited).toBe(0);
    expect(terminal.text).toContain("This entry was answered elsewhere, or its turn has ended.");
    expect(await outcome()).toBe("turn.completed");
  });
});

describe("a parked approval", () => {
  async function park(message: string): Promise<Approval> {
    const approval = await open(message);
    await daemon.client.request("POST /sessions/{sessionId}/park", {
      params: { sessionId: session.id },
      query: { wait: 20_000 },
    });
    return approval;
  }

  /** Resolves when the turn that continues has ended. */
  async function continued(approvalId: string): Promise<void> {
    let isAnswered = false;
    for await (const event of daemon.client.sessionEvents(session.id, { after: session.lastSeq })) {
      if (event.type === "inbox.answered" && event.approvalId === approvalId) isAnswered = true;
      if (isAnswered && event.type === "turn.completed") break;
    }
    session = await daemon.client.request("GET /sessions/{sessionId}", { params: { sessionId: session.id } });
  }

  test("is listed with its state, shown with its offers, and approved by the beginning of its ID", async () => {
    const { id } = await park("touch parked");
    const [bare, listed, shown] = await Promise.all([
      daemon.run(["inbox"]),
      daemon.run(["inbox", "list"]),
      daemon.run(["inbox", "show", id.slice(0, 30)]),
    ]);
    const approved = await daemon.run(["inbox", "approve", id.slice(0, 30)]);

    for (const { stdout } of [bare, listed])
      expect(stdout).toMatch(new RegExp(`^${id} +parked +command`, "m"));
    expect(shown.stdout).toContain("accept  Accept");
    expect(approved).toEqual({ exitCode: 0, stdout: `Approved ${id}: touch parked\n`, stderr: "" });
    await continued(id);
  });

  test("in the history, refers to its entry until it is answered, and then has the output", async () => {
    const { id } = await park("echo $((40 + 2)) answers");
    const before = await daemon.run(["sessions", "show", session.id]);
    await daemon.run(["inbox", "approve", id]);
    await continued(id);
    const after = await daemon.run(["sessions", "show", session.id]);

    expect(before.stdout).toContain(`Waits for approval. Run: codexkit inbox show ${id}`);
    expect(before.stdout).not.toContain("still running");
    expect(before.stdout).not.toContain("outcome is unknown");
    expect(after.stdout).toMatch(/42 answers\n +exit 0/);
    expect(after.stdout).not.toContain("outcome is unknown");
  });

  test("is declined by the beginning of its ID", async () => {
    const { id } = await park("touch declined");
    expect(await daemon.run(["inbox", "decline", id.slice(0, 30)])).toMatchObject({ exitCode: 0 });
    await continued(id);
    const { stdout } = await daemon.run(["sessions", "show", session.id]);
    expect(stdout).toMatch(/touch declined\n +declined/);
  });

  test("is asked about at a terminal", async () => {
    const { id } = await park("touch asked");
    await using terminal = daemon.open(["inbox"], { columns: 120, env: { NO_COLOR: "1" } });
    await terminal.waitFor("Enter: confirm");
    expect(terminal.text).toContain("State: parked");
    terminal.write("\r");
    expect(await terminal.exited).toBe(0);
    await continued(id);
  });
});
