import { tempFolder } from "@codexkit/testing";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ExecClient, type SandboxContext } from "../src/client/index.ts";
import type { ExecServerOptions } from "../src/index.ts";
import { type ServerKind, startServer } from "./servers.ts";

type Managed = Extract<SandboxContext["permissions"], { type: "managed" }>;
export type SandboxEntry = Extract<Managed["file_system"], { type: "restricted" }>["entries"][number];
type Access = SandboxEntry["access"];

/** A server, a client, and a folder with a workspace `ws` in it. */
export async function sandboxFixture(kind: ServerKind = "ours", options: ExecServerOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await tempFolder("sandbox"));
  const server = stack.use(await startServer(kind, options));
  const client = stack.use(await ExecClient.connect(server.url));
  await mkdir(join(folder, "ws"));
  const owner = stack.move();
  return {
    ...rulesIn(folder),
    server,
    client,
    /** Runs a script with the workspace as its folder. A sandbox that can't be set up counts as a script that failed. */
    run: async (script: string, sandbox: SandboxContext) => {
      try {
        const started = await client.start({
          argv: ["/bin/sh", "-c", script],
          cwd: join(folder, "ws"),
          sandbox,
        });
        const { stdout, stderr, exitCode } = await started.collect();
        return { output: String(stdout) + String(stderr), exitCode };
      } catch (error) {
        return { output: String(error), exitCode: -1 };
      }
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** Paths, files and rules below one folder. */
export function rulesIn(folder: string) {
  const at = (path: string): string => join(folder, path);
  const uri = (path: string): string => `file://${at(path)}`;
  return {
    folder,
    at,
    uri,
    put: async (path: string, content = "top-secret"): Promise<void> => {
      await mkdir(dirname(at(path)), { recursive: true });
      await writeFile(at(path), content);
    },
    path: (path: string, access: Access): SandboxEntry => ({
      path: { type: "path", path: uri(path) },
      access,
    }),
    /** The disk to read and the workspace to write, and more rules. */
    workspaceWrite: (more: readonly SandboxEntry[] = [], depth?: number): SandboxContext => ({
      permissions: {
        type: "managed",
        network: "restricted",
        file_system: {
          type: "restricted",
          entries: [special("root", "read"), special("project_roots", "write"), ...more],
          ...(depth === undefined ? {} : { glob_scan_max_depth: depth }),
        },
      },
      policyContext: { cwd: uri("ws"), workspaceRoots: [uri("ws")] },
      windowsSandboxLevel: "disabled",
    }),
  };
}

export function special(
  kind: "root" | "minimal" | "project_roots" | "slash_tmp",
  access: Access,
): SandboxEntry {
  return { path: { type: "special", value: { kind } }, access };
}

export function deny(pattern: string): SandboxEntry {
  return { path: { type: "glob_pattern", pattern }, access: "deny" };
}
