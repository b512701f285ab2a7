// What Codex itself would find on this machine: its configuration layers, and installed plugins and skills.
// These methods repeat Codex's own lookups; nothing else in the server depends on them.
import { lazyMethod, type Method } from "../session/method.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/**
 * Loads these methods when a client first calls one, because the parsers for TOML and YAML need several
 * megabytes.
 */
export function codexEnvironmentMethods(sandbox: Sandbox): [string, Method][] {
  return [
    [
      "environmentConfig/read",
      lazyMethod("ordinary", async () => (await import("./config/read-config.ts")).environmentConfigMethod()),
    ],
    [
      "capabilityRoots/discoverV1",
      lazyMethod("ordinary", async () =>
        (await import("./discovery/discover-roots.ts")).capabilityRootsMethod(sandbox),
      ),
    ],
    [
      "capabilities/discoverV2",
      lazyMethod("ordinary", async () =>
        (await import("./discovery/discover-installed.ts")).installedCapabilitiesMethod(sandbox),
      ),
    ],
  ];
}
