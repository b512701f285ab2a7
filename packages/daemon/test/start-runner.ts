import type { Script, ScriptedModel } from "@codexkit/scripted-model";
import { codexFolders, createCodexHome, type ModelOptions } from "@codexkit/testing";
import { randomUUID } from "node:crypto";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { InboxAnswer } from "../src/api/approval.ts";
import type { CommandBody, CommandKind } from "../src/api/command.ts";
import type { SessionEvent } from "../src/api/event.ts";
import { type CreateSession, sessionSettings, type SessionSettings } from "../src/api/settings.ts";
import { commandResult, type CommandResult } from "../src/commands/command-store.ts";
import { type Database, openDatabase, type OpenDatabaseOptions } from "../src/database.ts";
import type { ApprovalRow, SessionRow } from "../src/database/tables.ts";
import { createRunner, type RunnerOptions } from "../src/sessions/create-runner.ts";
import type { Runner } from "../src/sessions/runner.ts";

const WAIT_MS = 20_000;

const SETTINGS: SessionSettings = {
  permissionMode: "workspace-write",
  agentMode: "build",
  approvalPolicy: "on-request",
};

export type TestRunnerOptions = Partial<Omit<RunnerOptions, "database" | "stateFolder">> &
  Omit<ModelOptions, "model"> & {
    /** Location of the store. Default: a folder for SQLite. */
    readonly location?: string;
    readonly storeLimits?: OpenDatabaseOptions["limits"];
  };

/** A runner on the real codex with a scripted model and a real store. Sessions are driven through the store, as HTTP does. */
export interface TestRunner extends AsyncDisposable {
  readonly database: Database;
  readonly runner: Runner;
  readonly workspace: string;
  readonly stateFolder: string;
  readonly options: RunnerOptions;
  readonly log: readonly { level: string; message: string; err?: unknown }[];
  create(session?: Partial<CreateSession>): Promise<TestSession>;
}

export async function startRunner(
  model: ScriptedModel | Script,
  { modelName, modelRetries, location, storeLimits, ...given }: TestRunnerOptions = {},
): Promise<TestRunner> {
  await using made = new AsyncDisposableStack();
  const folders = made.use(
    await codexFolders({
      model,
      ...(modelName === undefined ? {} : { modelName }),
      ...(modelRetries === undefined ? {} : { modelRetries }),
    }),
  );
  const stateFolder = join(folders.root, "state");
  const codexHome = join(stateFolder, "codex");
  await createCodexHome(codexHome, folders);
  const log: { level: string; message: string; err?: unknown }[] = [];
  const write =
    (level: string) =>
    (details: object, message: string): void =>
      void log.push({ level, message, ...details });
  const database = made.use(
    await openDatabase(location ?? join(stateFolder, "store"), {
      ...(given.fleet && { leaseMs: given.fleet.leaseMs }),
      ...(storeLimits && { limits: storeLimits }),
    }),
  );
  const options: RunnerOptions = {
    database,
    stateFolder,
    userCodexHome: join(folders.root, "no-codex-home"),
    log: { info: write("info"), warn: write("warn"), error: write("error") },
    ...given,
    codex: { inheritEnv: false, env: folders.env, ...given.codex },
  };
  const runner = made.use(createRunner(options));
  await runner.start();
  const owner = made.move();
  return {
    database,
    runner,
    workspace: folders.workspace,
    stateFolder,
    options,
    log,
    create: (session = {}) => createTestSession(database, { cwd: folders.workspace, ...session }),
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** Starts another node on the same store, with its own Codex home. */
export async function startNode(stage: TestRunner, nodeName: string): Promise<Runner> {
  const stateFolder = join(stage.stateFolder, `../${nodeName}`);
  const home = join(stateFolder, "codex");
  await mkdir(home, { recursive: true });
  await copyFile(join(stage.stateFolder, "codex/config.toml"), join(home, "config.toml"));
  const runner = createRunner({ ...stage.options, stateFolder, nodeName });
  await runner.start();
  return runner;
}

/** Drives one session through the store. */
export class TestSession {
  readonly id: string;
  readonly #database: Database;

  constructor(id: string, database: Database) {
    this.id = id;
    this.#database = database;
  }

  /** Submits a command and returns its ID. */
  async submit<Kind extends CommandKind>(
    kind: Kind,
    body: CommandBody<Kind>,
    key: string = randomUUID(),
  ): Promise<string> {
    const { command } = await this.#database.commands.submit({
      sessionId: this.id,
      key,
      kind,
      body,
      by: "test",
    });
    return command.id;
  }

  /** Waits for the result of a command. */
  async result(commandId: string): Promise<CommandResult> {
    const row = await this.#database.commands.wait(commandId, { timeoutMs: WAIT_MS });
    const result = commandResult(row);
    if (!result) throw new Error(`The command ${row.kind} was not finished within ${WAIT_MS} ms.`);
    return result;
  }

  async run<Kind extends CommandKind>(kind: Kind, body: CommandBody<Kind>): Promise<CommandResult> {
    return this.result(await this.submit(kind, body));
  }

  send(input: string, mode: "start" | "steer" | "queue" = "queue"): Promise<CommandResult> {
    return this.run("message", { input, mode });
  }

  /** Waits for an event, from the beginning of the journal or after a sequence number. */
  async event<Event extends SessionEvent = SessionEvent>(
    matches: (event: SessionEvent) => boolean,
    after = 0,
  ): Promise<Event> {
    const signal = AbortSignal.timeout(WAIT_MS);
    const seen: string[] = [];
    for await (const batch of this.#database.journal.follow(this.id, { after, signal })) {
      const found = batch.find((event) => matches(event));
      if (found) return found as Event;
      seen.push(...batch.map(({ type }) => type));
    }
    throw new Error(`The event was not stored within ${WAIT_MS} ms. Stored events: ${seen.join(", ")}`);
  }

  ended(turnId?: unknown, after = 0): Promise<SessionEvent> {
    return this.event(
      (event) =>
        /^turn\.(?:completed|failed|interrupted)$/.test(event.type) &&
        (turnId === undefined || ("turnId" in event && event.turnId === turnId)),
      after,
    );
  }

  async events(): Promise<readonly SessionEvent[]> {
    const { events } = await this.#database.journal.read(this.id, { limit: 100_000 });
    return events;
  }

  async row(): Promise<SessionRow> {
    const row = await this.#database.sessions.get(this.id);
    if (!row) throw new Error("The session does not exist.");
    return row;
  }

  /** Waits for the newest open approval. */
  async approval(count = 1): Promise<readonly ApprovalRow[]> {
    await this.event(() => true);
    const opened = new Set<string>();
    await this.event((event) => {
      if (event.type === "inbox.opened") opened.add(event.approvalId);
      if (/^inbox\.(?:withdrawn|answered|expired)$/.test(event.type) && "approvalId" in event)
        opened.delete(event.approvalId);
      return opened.size >= count;
    });
    const { rows } = await this.#database.inbox.list({ sessionId: this.id, state: "open" });
    return rows;
  }

  answer(approval: ApprovalRow | undefined, answer: InboxAnswer): Promise<ApprovalRow> {
    if (!approval) throw new Error("The approval does not exist.");
    return this.#database.inbox.answer(approval.id, { answer, by: "test" });
  }
}

export async function createTestSession(
  database: Database,
  { cwd, name, mcpServers, environment, tools, dedicated, priority: _priority, ...settings }: CreateSession,
): Promise<TestSession> {
  const { session } = await database.sessions.insert({
    cwd,
    ...(name === undefined ? {} : { name }),
    settings: sessionSettings.parse({ ...SETTINGS, ...settings }),
    setup: { mcpServers, environment, tools, dedicated },
    by: "test",
    key: randomUUID(),
  });
  return new TestSession(session.id, database);
}
