import type { Session } from "../src/api/session.ts";
import { type DaemonClient, DaemonClientError } from "../src/client/index.ts";
import { openDatabase } from "../src/database.ts";
import type { DatabaseFixture } from "./database-fixture.ts";
import { startTestDaemon, type TestDaemon } from "./test-daemon.ts";

type Options = NonNullable<Parameters<typeof startTestDaemon>[1]>;

export interface FleetNode extends AsyncDisposable {
  readonly api: TestDaemon;
  readonly client: DaemonClient;
  readonly url: string;
  readonly nodeId: string;
}

export interface TestFleet extends AsyncDisposable {
  readonly a: FleetNode;
  readonly b: FleetNode;
  /** Changes the URL at which the other nodes reach a node. */
  setUrl(node: FleetNode, url: string | null): Promise<void>;
  /** Creates a session on node `b`, in a folder of `b`. */
  createSession(): Promise<Session>;
}

/** Starts two listening daemons on one Postgres, each with its own folder. */
export async function startFleet(
  databases: DatabaseFixture,
  options: Options = {},
  { location }: { readonly location?: string } = {},
): Promise<TestFleet> {
  const where = location ?? (await databases.location());
  const a = await startNode("a", where, options);
  const b = await startNode("b", where, options);
  return {
    a,
    b,
    setUrl: async ({ nodeId }, url) => setUrl(a.api, nodeId, url),
    createSession: async () => {
      const { session } = await b.client.createSession({ cwd: b.api.root }, { wait: 10_000 });
      return session;
    },
    [Symbol.asyncDispose]: async () => {
      await a[Symbol.asyncDispose]();
      await b[Symbol.asyncDispose]();
    },
  };
}

export async function startNode(
  nodeName: string,
  location: string,
  options: Options = {},
): Promise<FleetNode> {
  const api = await startTestDaemon(await openDatabase(location), { ...options, nodeName });
  const client = await api.listen();
  const url = api.daemon.url ?? "";
  const nodeId = api.runner.status.nodeId ?? "";
  await setUrl(api, nodeId, url);
  return { api, client, url, nodeId, [Symbol.asyncDispose]: async () => api[Symbol.asyncDispose]() };
}

async function setUrl({ database }: TestDaemon, nodeId: string, url: string | null): Promise<void> {
  await database.store.db.updateTable("node").set({ url }).where("id", "=", nodeId).execute();
}

/** The code of the problem that a call rejects with. */
export async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  return call.then(
    () => undefined,
    (error: unknown) => {
      if (DaemonClientError.is(error)) return error.code;
      throw error;
    },
  );
}
