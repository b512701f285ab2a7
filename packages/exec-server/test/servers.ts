import { findCodex, OwnedProcess, tempFolder } from "@codexkit/testing";
import { fileURLToPath } from "node:url";
import { once } from "node:events";
import { ExecServer, type ExecServerOptions } from "../src/index.ts";

export type ServerKind = "ours" | "codex";

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  /** The process, when the server has one of its own. */
  readonly process: OwnedProcess | undefined;
}

/** The program as users start it, from source. */
export const OUR_BIN: readonly string[] = [
  "--conditions=codexkit:source",
  fileURLToPath(new URL("../src/bin/main.ts", import.meta.url)),
];

/** How long a server may take to listen. */
const START_MS = 20_000;

/** Our server in this process, or Codex's in one of its own. */
export async function startServer(kind: ServerKind, options: ExecServerOptions = {}): Promise<TestServer> {
  if (kind === "codex") return startProgram("codex", []);
  const server = await ExecServer.start(options);
  return { url: server.url ?? "", process: undefined, [Symbol.asyncDispose]: () => server.close() };
}

/** A server as a program, with its flags. */
export async function startProgram(
  kind: ServerKind,
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  await using stack = new AsyncDisposableStack();
  // Codex writes to its home; a home of its own keeps the person's as it is.
  const home = stack.use(await tempFolder("exec-home"));
  const [command, args] =
    kind === "codex"
      ? ([findCodex().path, ["exec-server", ...flags]] as const)
      : ([process.execPath, [...OUR_BIN, ...flags]] as const);
  const owned = new OwnedProcess({
    command,
    args,
    env: {
      ...process.env,
      CODEX_HOME: home.path,
      // Codex leaves a lock in the folder for temporary files.
      ...(kind === "codex" ? { TMPDIR: home.path } : {}),
      ...env,
    },
  });
  stack.defer(() => owned.stop("SIGTERM"));
  const url = await firstLine(owned);
  const owner = stack.move();
  return { url, process: owned, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

async function firstLine(owned: OwnedProcess): Promise<string> {
  const limit = AbortSignal.timeout(START_MS);
  const ended = owned.ended.then((end) => {
    throw new Error(owned.describeEnd(end));
  });
  ended.catch(() => {});
  const [bytes] = (await Promise.race([once(owned.child.stdout, "data", { signal: limit }), ended])) as [
    Buffer,
  ];
  return String(bytes).trim();
}
