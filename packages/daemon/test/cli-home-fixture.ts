import { tempFolder } from "@codexkit/testing";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Database } from "../src/database.ts";
import { CliHome } from "../src/threads/cli-home.ts";
import { CliThreads } from "../src/threads/cli-threads.ts";
import { THREAD_LIMITS, type ThreadLimits } from "../src/threads/limits.ts";

/** A Codex home with files that a test writes, and a folder that threads may work in. */
export interface CliHomeFixture extends AsyncDisposable {
  readonly path: string;
  readonly root: string;
  readonly threads: CliThreads;
  /** The path of a thread's rollout. */
  pathOf(threadId: string, more?: { time?: string; segment?: string; suffix?: string }): string;
  /** Writes a rollout with one turn per message, and returns its path. */
  write(threadId: string, messages?: readonly string[], meta?: object): Promise<string>;
}

export async function cliHomeFixture(
  database: Database,
  limits: Partial<ThreadLimits> = {},
): Promise<CliHomeFixture> {
  const folder = await tempFolder("cli-home");
  const base = await realpath(folder.path);
  const [path, root] = [join(base, "home"), join(base, "work")];
  await mkdir(path);
  await mkdir(root);
  const all = { ...THREAD_LIMITS, pollMs: 5, ...limits };
  const home = new CliHome(path, { scratchFolder: join(base, "scratch"), limits: all });
  const pathOf: CliHomeFixture["pathOf"] = (
    threadId,
    { time = "2026-11-16T15-25-44", segment = "", suffix = "" } = {},
  ) => {
    const date = time.slice(0, 10).replaceAll("-", "/");
    return join(path, `sessions/${date}/rollout-${time}-${threadId}${segment}.jsonl${suffix}`);
  };
  return {
    path,
    root,
    threads: new CliThreads({ home, database, roots: [root], limits: all }),
    pathOf,
    write: async (threadId, messages = ["hello"], meta = {}) => {
      const file = pathOf(threadId);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, rolloutText(threadId, messages, { cwd: root, ...meta }));
      return file;
    },
    [Symbol.asyncDispose]: async () => folder[Symbol.asyncDispose](),
  };
}

export function threadIdOf(number: number): string {
  return `01a1e4f6-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

export function rolloutText(threadId: string, messages: readonly string[], meta: object = {}): string {
  const first = { id: threadId, cwd: "/", source: "cli", cli_version: "0.166.0", ...meta };
  return [
    line({ type: "session_meta", payload: first }),
    ...messages.flatMap((message, index) => turnLines(threadId, `turn-${index + 1}`, message)),
  ].join("");
}

/** The lines of a turn in which the agent repeats a message. */
export function turnLines(threadId: string, turnId: string, message: string): string[] {
  const event = (payload: object): string => line({ type: "event_msg", payload });
  const completed = (item: object): string =>
    event({ type: "item_completed", thread_id: threadId, turn_id: turnId, item });
  return [
    event({ type: "task_started", turn_id: turnId }),
    completed({ type: "UserMessage", id: `user-${turnId}`, content: [{ type: "text", text: message }] }),
    completed({
      type: "AgentMessage",
      id: `agent-${turnId}`,
      content: [{ type: "Text", text: `re: ${message}` }],
    }),
    event({ type: "task_complete", turn_id: turnId, last_agent_message: `re: ${message}` }),
  ];
}

function line(value: object): string {
  return `${JSON.stringify({ timestamp: "2026-11-16T15:25:44.000Z", ...value })}\n`;
}
