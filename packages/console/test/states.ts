import type { Scope } from "@codexkit/daemon/client";
import type { Page } from "playwright-core";
import type { FakeDaemon, FakeSession } from "./rig/index.ts";

/** A state of the page that people have to recognise. */
export interface PageState {
  readonly name: string;
  /** Prepares the daemon. Returns the path to open, or the session whose transcript is opened. */
  readonly prepare: (daemon: FakeDaemon) => Promise<string | FakeSession>;
  /** Done to the page after it was opened, such as cutting its connection. */
  readonly interfere?: (deps: {
    readonly daemon: FakeDaemon;
    readonly page: Page;
    /** The session that is open, if the state has one. */
    readonly session?: FakeSession;
  }) => Promise<void>;
  /** What the page shows in this state. */
  readonly shows: RegExp;
  readonly isLoggedIn?: boolean;
  /** Whether `interfere` cuts connections. */
  readonly losesConnections?: boolean;
  /** Scopes of the browser's token. Default: all. */
  readonly scopes?: readonly Scope[];
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

/** Streams are refused, and the rest of the API answers. Returns a function that ends this. */
function refuseStreams(daemon: FakeDaemon): () => void {
  const accept = daemon.faults.override("GET /events", {
    status: 503,
    json: { type: "draining", title: "Draining", status: 503, detail: "Try again later." },
  });
  daemon.faults.closeStreams();
  return accept;
}

export const STATES: readonly PageState[] = [
  {
    name: "session",
    prepare: createNormalSession,
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
      return session;
    },
    shows: /Loading/,
  },
  {
    name: "reconnecting",
    prepare: exchange,
    losesConnections: true,
    interfere: async ({ daemon, page }) => {
      await page.getByText("The lexer drops the last token.").first().waitFor();
      // After 10 s, the page would show the next state in the middle of the checks.
      await page.evaluate(() => {
        const start = globalThis.setTimeout;
        globalThis.setTimeout = ((run: TimerHandler, ms?: number) =>
          ms === 10_000 ? 0 : start(run, ms)) as typeof setTimeout;
      });
      refuseStreams(daemon);
    },
    shows: /Reconnecting/,
  },
  {
    name: "daemon-down",
    prepare: exchange,
    losesConnections: true,
    interfere: async ({ daemon, page }) => {
      await page.getByText("The lexer drops the last token.").first().waitFor();
      // The page would reconnect for 10 s before it shows this state.
      await page.evaluate(() => {
        const start = globalThis.setTimeout;
        globalThis.setTimeout = ((run: TimerHandler, ms?: number) =>
          start(run, ms === 10_000 ? 100 : ms)) as typeof setTimeout;
      });
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
      return session;
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
      await turn.interrupt();
      const problem = {
        type: "writer_locked" as const,
        title: "Writer locked",
        status: 409,
        detail: "Another program writes this thread.",
        holder: { pid: 4242, command: "codex" },
      };
      await session.append(
        [{ type: "command.finished", commandId: "command", key: "key", kind: "message", problem }],
        { phase: "failed", problem },
      );
      return session;
    },
    shows: /codex \(process 4242\) has this thread open[^]*Fork: use a copy now/,
  },
  {
    name: "codex-crashed",
    prepare: async (daemon) => {
      const session = await exchange(daemon);
      const turn = await session.startTurn("Go on");
      await turn.fail("codex ended with signal SIGKILL in the middle of the turn.", {
        stderr:
          "thread 'main' panicked at src/main.rs:42:\nindex out of bounds: the len is 3 but the index is 3",
      });
      return session;
    },
    shows: /codex ended with signal SIGKILL[^]*index out of bounds[^]*The next message starts Codex again/,
  },
  {
    name: "behind",
    prepare: exchange,
    losesConnections: true,
    interfere: async ({ daemon, page, session }) => {
      await page.getByText("The lexer drops the last token.").first().waitFor();
      const accept = refuseStreams(daemon);
      const turn = await session?.startTurn("List all files.");
      const message = await turn?.beginMessage();
      await message?.write(Array.from({ length: 12_000 }, (_, line) => `- file ${line} of the project\n`));
      daemon.faults.stallAfter(600_000);
      accept();
    },
    shows: /Catching up, [\d.,k ]+ events/,
  },
  {
    name: "row-fails",
    prepare: async (daemon) => {
      const session = await exchange(daemon);
      const turn = await session.startTurn("Change it.");
      // A version of Codex that reports patches in another form.
      await turn.add({ type: "fileChange", status: "completed", changes: "unknown" });
      await turn.say("It is changed.");
      await turn.complete("It is changed.");
      return session;
    },
    shows: /This row can't be displayed[^]*It is changed/,
  },
  {
    name: "new-version",
    prepare: exchange,
    losesConnections: true,
    interfere: async ({ daemon, page }) => {
      await page.getByText("The lexer drops the last token.").first().waitFor();
      await page.route("**/console/", async (route) => {
        const body = '<script type="module" src="/console/assets/index-of-the-next-version.js"></script>';
        await route.fulfill({ contentType: "text/html", body });
      });
      daemon.faults.closeStreams();
    },
    shows: /A new version of this page is available/,
  },
  {
    name: "read-only",
    scopes: ["read"],
    prepare: createNormalSession,
    shows: /may read, but not answer/,
  },
];
