// For tests, benchmarks and examples: real app-servers on a scripted model, a fake one for faults, and what they stand on.
// Nothing that ships imports this package.

// The real codex of the pinned release.
export {
  type AppServer,
  type AppServerOptions,
  type Listen,
  shakeHands,
  startAppServer,
} from "./start-app-server.ts";

// A fake app-server, for faults that the real one can't be made to show.
export type { FakeAction, FakeBehaviour } from "./fake/behaviour.ts";
export { type FakeAppServer, fakeAppServerCommand, startFakeAppServer } from "./fake/start-fake.ts";

// The same codex, managed by an administrator's requirements.
export { type ManagedCodex, managedCodex } from "./managed-codex.ts";

// A folder that does not outlive its owner.
export { type TempFolder, tempFolder } from "./temp-folder.ts";

// The SDK's `Codex` on a scripted model.
export { launchCodex, type LaunchedCodex } from "./launch-codex.ts";
export { type CodexFolders, codexFolders, type ModelOptions } from "./codex-folders.ts";

// The SDK's own: for tests of packages that the SDK does not stand under.
export { findCodex, OwnedProcess, type ProcessEnd } from "codexkit/process";
