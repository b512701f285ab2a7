import { demoScript } from "@codexkit/scripted-model";
import { execFile } from "node:child_process";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { PROBLEMS } from "../src/api/problem.ts";
import type { Route } from "../src/api/route.ts";
import { routes } from "../src/api/routes/index.ts";
import { FILE_LIMITS } from "../src/files/limits.ts";
import { HTTP_LIMITS } from "../src/limits.ts";
import { THREAD_LIMITS } from "../src/threads/limits.ts";
import { TERMINAL_LIMITS } from "../src/terminals/limits.ts";
import { useDatabases } from "./database-fixture.ts";
import { createDaemonHome } from "./start-daemon.ts";

const docs = join(import.meta.dirname, "../../../docs");

test("docs/daemon.md lists every operation with its scope, every problem and every limit", async () => {
  const text = await readFile(join(docs, "daemon.md"), "utf8");
  const rows = [...text.matchAll(/^\| `((?:GET|POST|PUT|PATCH|DELETE) [^`]+)` +\| (\S+) /gm)];
  const expected = Object.entries(routes as Record<string, Route>).map(([key, { scope }]) => [
    key,
    scope ?? "–",
  ]);
  expect(rows.map(([, key, scope]) => [key, scope])).toEqual(expected);
  const names = [PROBLEMS, HTTP_LIMITS, FILE_LIMITS, TERMINAL_LIMITS, THREAD_LIMITS].flatMap((table) =>
    Object.keys(table),
  );
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

const databases = useDatabases("sqlite");

test("every command of the curl guide works with the demo script", async () => {
  await using stage = await createDaemonHome(demoScript, { kind: "sqlite", locations: databases.locations });
  // The guide's `curl` notices that `sed` has exited when it writes the next event.
  await using started = await stage.start({ limits: { http: { heartbeatMs: 100 } } });
  const home = join(stage.folders.root, "curl-home");
  await mkdir(join(home, ".codexkit"), { recursive: true });
  await symlink(stage.stateFolder, join(home, ".codexkit", "daemon"));
  const guide = await readFile(join(docs, "guides/curl.md"), "utf8");
  const blocks = [...guide.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block);
  const program = blocks.join("\n").replace("http://127.0.0.1:4100", started.daemon.url ?? "");
  const { stdout } = await promisify(execFile)("bash", ["--norc", "-eu", "-c", program], {
    cwd: stage.folders.workspace,
    env: { PATH: process.env["PATH"], HOME: home },
    timeout: 25_000,
  });
  expect(stdout.split("\n")).toEqual([
    "accepted",
    "The command ran and printed:",
    "",
    "    Hello from a real shell in workspace",
    "",
    expect.stringContaining("script"),
    expect.stringMatching(/^[\w.]+,turn\.completed$/),
    "agentMessage,commandExecution,agentMessage,reasoning,userMessage",
    expect.stringContaining("codexkit-demo.txt"),
    expect.stringMatching(/^accept,(?:\w+,)*decline,/),
    "answered",
    "already_answered",
    "done",
    "session_deleted",
    "",
  ]);
});
