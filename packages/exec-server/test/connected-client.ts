import { tempFolder } from "@codexkit/testing";
import { ExecClient } from "../src/client/exec-client.ts";
import { cuttableProxy } from "./cuttable-proxy.ts";
import { type ServerKind, startServer } from "./servers.ts";

export const SERVER_KINDS: readonly ServerKind[] = ["ours", "codex"];

/** A client of a new server, connected through a proxy that can cut the connection, and a folder for its files. */
export async function connected(kind: ServerKind) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await tempFolder("exec"));
  const server = stack.use(await startServer(kind));
  const proxy = stack.use(await cuttableProxy(server.url));
  const client = stack.use(await ExecClient.connect(proxy.url));
  const owner = stack.move();
  return { client, proxy, server, folder: folder.path, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}
