import { run, say, type Script, type ScriptedModel } from "@codexkit/scripted-model";
import { codexFolders, createCodexHome } from "@codexkit/testing";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import type { CommandBody } from "../src/api/command.ts";
import type { SessionEvent } from "../src/api/event.ts";
import type { CreateSession } from "../src/api/settings.ts";
import { type Database, openDatabase } from "../src/database.ts";
import { createRunner } from "../src/sessions/create-runner.ts";
import type { Runner } from "../src/sessions/runner.ts";
import { createTestSession, TestSession } from "./start-runner.ts";

/** A daemon in a child process. */
export interface KilledDaemon {
  readonly child: ChildProcess;
  readonly sessionId: string;
  /** Resolves when the daemon has stored an event of this type. `stalled`: when it is about to store what must not be stored. */
  until(type: SessionEvent["type"] | "stalled"): Promise<void>;
  kill(): Promise<void>;
}

export interface KilledRunnerStage extends AsyncDisposable {
  readonly model: ScriptedModel;
  readonly workspace: string;
  readonly store: string;
  readonly codexHome: string;
  /** Registers a resource. Daemons that are started later are disposed of first. */
  use<Resource extends AsyncDisposable>(resource: Resource): Resource;
  /**
   * Runs a daemon in a child process on a store with one session and its messages.
   *
   * @param stalled What the daemon can't store: requests in the inbox, or the addresses of its app-servers.
   */
  boot(
    session: Partial<CreateSession>,
    messages: readonly (string | CommandBody<"message">)[],
    stalled?: "inbox" | "appServers",
  ): Promise<KilledDaemon>;
  /** Runs a daemon in this process on the store of a killed daemon. */
  takeOver(sessionId: string): Promise<{ database: Database; runner: Runner; session: TestSession }>;
}

export async function startStage(model: Script): Promise<KilledRunnerStage> {
  await using made = new AsyncDisposableStack();
  const folders = made.use(await codexFolders({ model }));
  const stateFolder = join(folders.root, "state");
  const store = join(stateFolder, "store");
  const userCodexHome = join(folders.root, "none");
  const codexHome = join(stateFolder, "codex");
  await createCodexHome(codexHome, folders);
  const env = Object.fromEntries(Object.entries(folders.env).filter(([, value]) => value !== undefined));
  const limits = { retryMs: 50, claimMs: 50, appServerGraceMs: 20_000 };
  const owner = made.move();
  return {
    model: folders.model,
    workspace: folders.workspace,
    store,
    codexHome,
    use: (resource) => owner.use(resource),
    boot: async (session, messages, stalled) => {
      const sessionId = await prepare(store, { cwd: folders.workspace, ...session }, messages);
      const settings = JSON.stringify({ sessionId, stateFolder, store, userCodexHome, env, limits, stalled });
      const program = join(import.meta.dirname, "runner-program.ts");
      const child = spawn(process.execPath, ["--conditions=codexkit:source", program, settings], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exited = once(child, "exit");
      owner.defer(() => void child.kill("SIGKILL"));
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      return {
        child,
        sessionId,
        until: async (type) => {
          for (;;) {
            const { value, done } = await lines.next();
            if (done === true) throw new Error(`The daemon ended before it stored ${type}.`);
            if (value === type) return;
          }
        },
        kill: async () => {
          child.kill("SIGKILL");
          await exited;
        },
      };
    },
    takeOver: async (sessionId) => {
      const database = owner.use(await openDatabase(store));
      const quiet = (): void => {};
      const runner = owner.use(
        createRunner({
          database,
          stateFolder,
          userCodexHome,
          codex: { inheritEnv: false, env },
          limits,
          log: { info: quiet, warn: quiet, error: quiet },
        }),
      );
      await runner.start();
      return { database, runner, session: new TestSession(sessionId, database) };
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** Creates a session with messages in a store that no daemon has open. Returns its ID. */
async function prepare(
  store: string,
  session: CreateSession,
  messages: readonly (string | CommandBody<"message">)[],
): Promise<string> {
  await using database = await openDatabase(store);
  const created = await createTestSession(database, session);
  for (const message of messages) {
    await created.submit(
      "message",
      typeof message === "string" ? { input: message, mode: "queue" } : message,
    );
  }
  return created.id;
}

/** Starts a stage and kills its daemon while a command waits for an approval. */
export interface StageWithApproval extends AsyncDisposable {
  readonly stage: KilledRunnerStage;
  readonly sessionId: string;
  /** Waits for the end of the turn, and checks that the command was run. */
  expectRun(session: TestSession): Promise<void>;
}

export async function startWithApproval(): Promise<StageWithApproval> {
  await using made = new AsyncDisposableStack();
  const stage = made.use(
    await startStage((request) =>
      request.commandResult("a") ? say("finished") : run("touch made", { callId: "a", escalate: "why" }),
    ),
  );
  const daemon = await stage.boot({ permissionMode: "read-only" }, ["go"]);
  await daemon.until("inbox.opened");
  await daemon.kill();
  const owner = made.move();
  return {
    stage,
    sessionId: daemon.sessionId,
    expectRun: async (session) => {
      await session.event(({ type }) => type === "turn.completed");
      expect(existsSync(join(stage.workspace, "made"))).toBe(true);
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** The texts of the completed messages of a session, or of those of one kind. */
export function textsOf(events: readonly SessionEvent[], kind?: "userMessage" | "agentMessage"): string[] {
  return events.flatMap((event) => {
    if (event.type !== "item.completed" || (kind !== undefined && event.item.type !== kind)) return [];
    if (event.item.type === "agentMessage") return [event.item.text];
    return event.item.type === "userMessage"
      ? event.item.content.map((part) => (part.type === "text" ? part.text : ""))
      : [];
  });
}
