// Test harness: real app-servers on a scripted model, and a fake app-server for faults. No published package imports it.

// The real codex of the pinned release.
export {
  type AppServer,
  type AppServerOptions,
  type Listen,
  initializePeer,
  startAppServer,
} from "./start-app-server.ts";

// A turn of a client without the SDK.
export { type StartedTurn, startTurn } from "./start-turn.ts";

// A fake app-server for faults that the real one can't reproduce.
export type { FakeAction, FakeBehaviour } from "./fake/behaviour.ts";
export { FakeTurn, notify } from "./fake/fake-turn.ts";
export { type FakeAppServer, fakeAppServerCommand, startFakeAppServer } from "./fake/start-fake.ts";

// The real codex with an administrator's requirements.
export { type ManagedCodex, managedCodex } from "./managed-codex.ts";

// The modules that an entry point loads.
export { loadedModules } from "./loaded-modules.ts";

// An address for a server that is restarted.
export { findFreePort } from "./find-free-port.ts";

// A temporary folder.
export { type TempFolder, tempFolder } from "./temp-folder.ts";

// Seeded random choices.
export { SeededRandom } from "./seeded-random.ts";

// How often a test repeats something.
export { isSoak, type RepetitionCounts, repetitions } from "./repetitions.ts";

// The SDK's `Codex` on a scripted model.
export { launchCodex, type LaunchedCodex } from "./launch-codex.ts";
export { type CodexFolders, codexFolders, createCodexHome, type ModelOptions } from "./codex-folders.ts";
export { createHomeTemplate } from "./create-home-template.ts";

// Re-exported from the SDK for tests of packages that must not import it.
export { findCodex, OwnedProcess, type ProcessEnd } from "codexkit/process";
