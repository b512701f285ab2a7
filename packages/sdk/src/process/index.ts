// Finds, launches and reliably ends codex, for programs that run it without the SDK.
import "../require-node.ts";

export { type CodexSource, findCodex, type FindCodexOptions, type FoundCodex } from "./find-codex.ts";
export { launchAppServer, type LaunchAppServerOptions, type LaunchedAppServer } from "./launch-app-server.ts";

// A child whose process group ends with its owner, and a transport over its stdio whose errors include its stderr.
export { OwnedProcess, type OwnedProcessOptions, type ProcessEnd, type StopStep } from "./owned-process.ts";
export { ChildTransport } from "./child-transport.ts";
export { PROCESS_LIMITS, type ProcessLimits } from "./limits.ts";
export { spawnCommand, type SpawnCommand } from "./spawn-command.ts";

// Cleanup after a killed owner: a manifest is written before a child starts, and the next start ends the orphans.
export { ManifestFile, ownersFolder } from "./owner-manifest.ts";
export { newMark } from "./owner-mark.ts";
// Process identity. A pid alone is not enough, because pids are reused.
export { pidExists, type ProcessEntry, type ProcessTable, processTable } from "./process-table.ts";
export { sweepOrphans, type SweepReport } from "./sweep-orphans.ts";
