// A scripted provider without a model or a process, for tests of runners.
import "../require-node.ts";
export { StubProvider, type StubProviderOptions } from "./stub-provider.ts";
export { STUB_BEHAVIOURS, type StubBehaviour, type StubSettings } from "./stub-settings.ts";
export { ManualClock, type StubClock } from "./stub-clock.ts";
export { StubSessions } from "./stub-sessions.ts";
