import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NewSessionEvent } from "../../../daemon/src/api/event.ts";
import { type Database, openDatabase } from "../../../daemon/src/database.ts";
import type { NewApproval } from "../../../daemon/src/inbox/new-approval.ts";
import type { HttpLimits } from "../../../daemon/src/limits.ts";
import { StaticFiles } from "../../../daemon/src/http/static-files.ts";
import { startTestDaemon, type TestDaemon } from "../../../daemon/test/test-daemon.ts";
import { builtPage } from "./built-page.ts";
import { FaultyServer } from "./faults.ts";
import { FakeSession } from "./fake-session.ts";
import type { PageServer } from "./page-server.ts";

export interface FakeDaemonOptions {
  readonly limits?: Partial<HttpLimits>;
  readonly auth?: "tokens" | "none";
}

/**
 * The daemon's real API, journal and inbox without Codex: tests write the events. Messages of the person are repeated by the agent.
 * A server in front of it misbehaves on request.
 */
export class FakeDaemon implements PageServer, AsyncDisposable {
  readonly faults: FaultyServer;
  readonly api: TestDaemon;
  readonly database: Database;
  readonly #folder: string;
  readonly token: string | undefined;
  readonly readers = new AsyncDisposableStack();

  private constructor(folder: string, database: Database, api: TestDaemon, auth: "tokens" | "none") {
    this.#folder = folder;
    this.database = database;
    this.api = api;
    this.token = auth === "tokens" ? api.token : undefined;
    this.faults = new FaultyServer({ handler: api.daemon.handler, upgrade: api.daemon.upgrade });
  }

  static async start({ limits = {}, auth = "tokens" }: FakeDaemonOptions = {}): Promise<FakeDaemon> {
    const staticFiles = await StaticFiles.open(builtPage());
    const folder = await mkdtemp(join(tmpdir(), "codexkit-console-"));
    const database = await openDatabase(join(folder, "store"), { synchronous: "normal" });
    const api = await startTestDaemon(database, { staticFiles, limits, auth });
    const fake = new FakeDaemon(folder, database, api, auth);
    await fake.faults.listen();
    return fake;
  }

  get url(): string {
    return this.faults.url;
  }

  /** Creates an idle session. */
  async createSession(name = "A session", more: object = {}): Promise<FakeSession> {
    const response = await this.api.request("POST /sessions?wait=20000", {
      json: { cwd: this.api.root, name, ...more },
    });
    if (response.status !== 202 && response.status !== 201) throw new Error(await response.text());
    const { session } = (await response.json()) as { session: { id: string } };
    return new FakeSession(session.id, {
      append: async (events: readonly NewSessionEvent[], changes = {}) => {
        await this.database.journal.write({ owner: this.api.runner.owner(session.id), events, changes });
      },
      ask: async (approval: NewApproval) => {
        const owner = this.api.runner.owner(session.id);
        return (await this.database.inbox.open(owner, approval)).approval.id;
      },
    });
  }

  /** The number of the newest event of a session. */
  async lastSeq({ id }: FakeSession): Promise<number> {
    const response = await this.api.request(`GET /sessions/${id}`);
    const { lastSeq } = (await response.json()) as { lastSeq: number };
    return lastSeq;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.readers.disposeAsync();
    await this.faults[Symbol.asyncDispose]();
    await this.api[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
