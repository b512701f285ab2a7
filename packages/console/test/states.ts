import type { Page } from "playwright-core";
import type { FakeDaemon, FakeSession } from "./rig/index.ts";

/** A state of the page that people have to recognise. */
export interface PageState {
  readonly name: string;
  /** Prepares the daemon. Returns the path to open. */
  readonly prepare: (daemon: FakeDaemon) => Promise<string>;
  /** Done to the page after it was opened, such as cutting its connection. */
  readonly interfere?: (daemon: FakeDaemon, page: Page) => Promise<void>;
  /** What the page shows in this state. */
  readonly shows: RegExp;
  readonly isLoggedIn?: boolean;
}

const DIFF = [
  "@@ -1,4 +1,5 @@",
  " import { parse } from './parse.ts';",
  "-export const limit = 10;",
  "+export const limit = 100;",
  "+export const retries = 3;",
  " ",
  " run(parse);",
].join("\n");

/** A session with one row of every usual kind, an approval, and a running turn. */
export async function createNormalSession(daemon: FakeDaemon): Promise<FakeSession> {
  const session = await daemon.createSession("Fix the parser");
  const first = await session.startTurn("Why does the test of the parser fail?");
  await first.add({
    type: "reasoning",
    summary: ["**Reading the test**\n\nIt expects two tokens."],
    content: [],
  });
  await first.run("npm test -- parser", "✓ reads words\n✗ reads numbers\n  expected 2, received 1\n", 1);
  await first.say(
    "The lexer drops the *last* token. In `src/lexer.ts`:\n\n",
    "```ts\nwhile (at < text.length - 1) {\n  tokens.push(next());\n}\n```\n\n",
    "| case | before | after |\n| --- | --- | --- |\n| `1 2` | 1 | 2 |\n\nShall I change it?",
  );
  await first.complete("Shall I change it?");
  const second = await session.startTurn("Yes, and run the tests with the database.");
  await second.patch("src/lexer.ts", DIFF);
  const diff = `diff --git a/src/lexer.ts b/src/lexer.ts\n--- a/src/lexer.ts\n+++ b/src/lexer.ts\n${DIFF}\n`;
  await session.append([{ type: "diff.updated", ...second.ids, diff }]);
  await second.say("The limit is changed. Now the tests:");
  await session.askForCommand("npm test && docker compose up -d", { turnId: second.id });
  return session;
}

async function exchange(daemon: FakeDaemon): Promise<FakeSession> {
  const session = await daemon.createSession("Fix the parser");
  await session.exchange("Why does it fail?", "The lexer drops the last token.");
  return session;
}

export const STATES: readonly PageState[] = [
  {
    name: "session",
    prepare: async (daemon) => `/s/${(await createNormalSession(daemon)).id}`,
    shows: /docker compose up/,
  },
  { name: "no-session", prepare: async () => "/sessions", shows: /codexkit run/ },
  {
    name: "no-credentials",
    prepare: async (daemon) => {
      daemon.faults.override("GET /credentials", { json: { kind: "none", source: null } });
      return "/new";
    },
    shows: /no credentials/i,
  },
  { name: "empty-inbox", prepare: async () => "/inbox", shows: /Nothing waits/ },
  {
    name: "loading",
    prepare: async (daemon) => {
      const session = await exchange(daemon);
      const never = new Promise<void>(() => {});
      daemon.faults.override(`GET /sessions/${session.id}/items`, { after: never });
      return `/s/${session.id}`;
    },
    shows: /Loading/,
  },
  {
    name: "reconnecting",
    prepare: async (daemon) => `/s/${(await exchange(daemon)).id}`,
    interfere: async (daemon, page) => {
      await page.getByText("The lexer drops the last token.").first().waitFor();
      // Streams are refused, and the rest of the API answers.
      daemon.faults.override("GET /events", {
        status: 503,
        json: { type: "draining", title: "Draining", status: 503, detail: "Try again later." },
      });
      daemon.faults.closeStreams();
    },
    shows: /Reconnecting|can't be reached/,
  },
  {
    name: "daemon-down",
    prepare: async (daemon) => `/s/${(await exchange(daemon)).id}`,
    interfere: async (daemon, page) => {
      await page.getByText("The lexer drops the last token.").first().waitFor();
      await daemon.faults.refuse();
    },
    shows: /The daemon can't be reached/,
  },
  {
    name: "gap",
    prepare: async (daemon) => {
      const session = await exchange(daemon);
      await session.append([
        { type: "gap", from: 40, to: 90, reason: "store_rewound" },
        { type: "recovered", items: 3, reason: "The daemon was killed in the middle of the turn." },
      ]);
      return `/s/${session.id}`;
    },
    shows: /Events 40 to 90 are missing/,
  },
  {
    name: "signed-out",
    isLoggedIn: false,
    prepare: async () => "/inbox",
    shows: /Sign in/,
  },
  {
    name: "writer-lock",
    prepare: async (daemon) => {
      const session = await exchange(daemon);
      const turn = await session.startTurn("Go on");
      await session.append([
        {
          type: "command.finished",
          commandId: "command",
          key: "key",
          kind: "message",
          problem: {
            type: "writer_locked",
            title: "Writer locked",
            status: 409,
            detail: "Another program writes this thread.",
            holder: { pid: 4242, command: "codex" },
          },
        },
      ]);
      await turn.interrupt();
      return `/s/${session.id}`;
    },
    shows: /codex \(process 4242\) has this thread open/,
  },
  {
    name: "codex-crashed",
    prepare: async (daemon) => {
      const session = await exchange(daemon);
      const turn = await session.startTurn("Go on");
      await turn.fail("codex ended with signal SIGKILL in the middle of the turn.");
      return `/s/${session.id}`;
    },
    shows: /codex ended with signal SIGKILL/,
  },
];
