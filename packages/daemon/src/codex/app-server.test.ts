import { tempFolder } from "@codexkit/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AppServer } from "./app-server.ts";
import { RUNNER_LIMITS } from "./limits.ts";

// Binds the socket and is killed before it can remove the file.
const LISTENER = `require("node:net").createServer().listen(process.argv[1], () => console.log("listening"))`;

test("attaching to the socket of a killed server leaves the process alone that has its ID now", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "app-server.sock");
  const listener = spawn(process.execPath, ["-e", LISTENER, path], { stdio: ["ignore", "pipe", "inherit"] });
  await once(listener.stdout, "data");
  const killed = once(listener, "exit");
  listener.kill("SIGKILL");
  await killed;
  const other = spawn("sleep", ["60"]);
  const ended = once(other, "exit");
  await once(other, "spawn");
  const address = { id: "server", url: `unix://${path}`, pid: other.pid ?? null, sessionId: null };
  const limits = { ...RUNNER_LIMITS, callMs: 500 };
  const deps = { limits, onEvent: () => undefined, onEnd: () => {}, isFrozen: () => false };
  await expect(AppServer.attach(address, deps)).rejects.toThrow("ECONNREFUSED");
  await AppServer.end(address);
  expect([other.exitCode, other.signalCode]).toEqual([null, null]);
  other.kill();
  await ended;
});
