// Finding codex, launching it, and making sure that it ends: for programs that run a codex of their own beside the SDK.
import "../require-node.ts";

export { type CodexSource, findCodex, type FindCodexOptions, type FoundCodex } from "./find-codex.ts";
export { launchAppServer, type LaunchAppServerOptions, type LaunchedAppServer } from "./launch-app-server.ts";

// A child whose whole group dies with its owner, and lines over its stdio with its last words in every error.
export { OwnedProcess, type OwnedProcessOptions, type ProcessEnd, type StopStep } from "./owned-process.ts";
export { ChildTransport } from "./child-transport.ts";
export { PROCESS_LIMITS, type ProcessLimits } from "./limits.ts";
export { spawnCommand, type SpawnCommand } from "./spawn-command.ts";

// What is left of owners that were killed: noted before a child is started, swept up at the next start.
export { ManifestFile, ownersFolder } from "./owner-manifest.ts";
export { newMark } from "./owner-mark.ts";
export { sweepOrphans, type SweepReport } from "./sweep-orphans.ts";
