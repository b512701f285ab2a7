import type { SandboxContext } from "@codexkit/exec-server/client";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { timed } from "./percentiles.ts";
import type { Contender } from "./servers.ts";

/** Codex's usual sandbox: the whole disk is readable, one folder is writable, and there is no network. */
function workspaceWrite(folder: string): SandboxContext {
  const uri = `file://${folder}`;
  return {
    permissions: {
      type: "managed",
      network: "restricted",
      file_system: {
        type: "restricted",
        entries: [
          { path: { type: "special", value: { kind: "root" } }, access: "read" },
          { path: { type: "special", value: { kind: "project_roots" } }, access: "write" },
        ],
      },
    },
    policyContext: { cwd: uri, workspaceRoots: [uri] },
    windowsSandboxLevel: "disabled",
  };
}

export function sandboxedTrue(
  { client, folder }: Contender,
  times: number,
): Promise<{ p50: number; p99: number }> {
  const sandbox = workspaceWrite(folder);
  return timed(times, async () => {
    const process = await client.start({ argv: ["/bin/true"], cwd: folder, sandbox });
    const { exitCode } = await process.wait();
    if (exitCode !== 0) throw new Error(`exit code ${exitCode}`);
  });
}

export function sandboxedWrites(
  { client, folder }: Contender,
  times: number,
): Promise<{ p50: number; p99: number }> {
  const sandbox = workspaceWrite(folder);
  const path = join(folder, "small");
  return timed(times, (index) => client.files.write(path, `write ${index}`, { sandbox }));
}

/**
 * Returns the milliseconds for small writes to several workspaces in turn, as on a server that many threads
 * share.
 */
export async function workspacesInTurn(
  { client, folder }: Contender,
  workspaces: number,
  turns: number,
): Promise<number> {
  const folders = Array.from({ length: workspaces }, (_, index) => join(folder, `workspace-${index}`));
  for (const path of folders) await mkdir(path, { recursive: true });
  const began = performance.now();
  for (let turn = 0; turn < turns; turn += 1) {
    for (const path of folders) {
      await client.files.write(join(path, "small"), `write ${turn}`, { sandbox: workspaceWrite(path) });
    }
  }
  return performance.now() - began;
}
