import type { HarnessV1NetworkSandboxSession, HarnessV1SandboxProvider } from "@ai-sdk/harness";
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { localFiles } from "./local-files.ts";
import { LocalProcesses } from "./local-processes.ts";

type SandboxSession = ReturnType<HarnessV1NetworkSandboxSession["restricted"]>;

/**
 * Lets a `HarnessAgent`, which requires a sandbox, run on this machine. Sessions work in folders below `folder`. There is no
 * isolation beyond Codex's own sandbox, which confines the agent's commands. When a session ends, its processes are stopped and
 * its files are kept.
 */
export function localSandbox({ folder }: { readonly folder: string }): HarnessV1SandboxProvider {
  const root = resolve(folder);
  const open = async (id: string): Promise<HarnessV1NetworkSandboxSession> => {
    await mkdir(root, { recursive: true });
    return session(id, root);
  };
  return {
    specificationVersion: "harness-sandbox-v1",
    providerId: "local",
    createSession: async ({ sessionId = "local", abortSignal, onFirstCreate } = {}) => {
      const created = await open(sessionId);
      await onFirstCreate?.(created.restricted(), abortSignal === undefined ? {} : { abortSignal });
      return created;
    },
    resumeSession: ({ sessionId }) => open(sessionId),
  };
}

function session(id: string, root: string): HarnessV1NetworkSandboxSession {
  const processes = new LocalProcesses(root);
  const restricted: SandboxSession = {
    description: `This machine. Relative paths and commands start in ${root}.`,
    ...localFiles(root),
    spawn: (options) => processes.spawn(options),
    run: (options) => processes.run(options),
  };
  const getPortUrl: HarnessV1NetworkSandboxSession["getPortUrl"] = async ({ port, protocol = "http" }) =>
    `${protocol}://127.0.0.1:${port}`;
  return {
    ...restricted,
    id,
    defaultWorkingDirectory: root,
    ports: [],
    getPortUrl,
    getPortEndpoint: async (options) => ({ url: await getPortUrl(options) }),
    stop: () => processes.stop(),
    destroy: () => processes.stop(),
    restricted: () => restricted,
  };
}
