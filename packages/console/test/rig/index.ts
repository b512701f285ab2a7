// The rig of the console's tests: real Chromium, and a daemon with or without the real codex.

// A browser per file, and a guarded page per test.
export type { PageServer } from "./page-server.ts";
export { LOST_CONNECTION } from "./page-guards.ts";
export { DESKTOP, type OpenOptions, PHONE, type TestBrowser, useBrowser } from "./use-browser.ts";

// The daemon's API without Codex: tests write the events, and a server in front of it misbehaves on request.
export { FakeDaemon, type FakeDaemonOptions } from "./fake-daemon.ts";
export { FakeMessage, FakeSession, FakeTurn, OFFERS } from "./fake-session.ts";
export { FaultyServer, type Override } from "./faults.ts";

// The daemon with the real codex on a scripted model, in this process or in one that can be killed.
export { DaemonHome, KillableDaemon, type RealDaemon, startRealDaemon } from "./real-daemon.ts";

// Presses on approvals, checks and pictures of a page.
export { pressButton, untilStill } from "./card-presses.ts";
export { expectAccessible, expectAriaSnapshot } from "./accessibility.ts";
export { takeScreenshot } from "./screenshot.ts";
