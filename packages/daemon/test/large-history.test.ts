import { findCodex } from "@codexkit/testing";
import { gate, say, type Script, waitFor } from "@codexkit/scripted-model";
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { useDatabases } from "./database-fixture.ts";
import { runTurn } from "./run-turn.ts";
import { createDaemonHome } from "./start-daemon.ts";

const databases = useDatabases("sqlite");
/** Three of them are more than the largest message of a connection. */
const TEXT_BYTES = 45 * 1024 * 1024;

async function onlyRollout(codexHome: string): Promise<string> {
  const names = await readdir(join(codexHome, "sessions"), { recursive: true });
  return join(codexHome, "sessions", names.find((name) => name.endsWith(".jsonl")) ?? "");
}

test("a history that is larger than a message is loaded without harm to other sessions", async () => {
  const hold = gate();
  const script: Script = ({ lastUserText }) =>
    lastUserText === "hold" ? say(["half ", waitFor(hold), "whole"]) : say(`heard: ${lastUserText}`);
  await using home = await createDaemonHome(script, { kind: "sqlite", locations: databases.locations });
  const { codexHome, env, workspace } = home.folders;
  const exec = ["exec", "--skip-git-repo-check"];
  for (const args of [["one"], ["resume", "--last", "two"], ["resume", "--last", "three"]]) {
    const running = promisify(execFile)(findCodex().path, [...exec, ...args], {
      env,
      cwd: workspace,
    });
    running.child.stdin?.end();
    await running;
  }
  const path = await onlyRollout(codexHome);
  const lines = (await readFile(path, "utf8")).split("\n");
  await writeFile(
    path,
    lines
      .map((line) =>
        line.includes('"AgentMessage"')
          ? line.replace(/heard: (?:one|two|three)/, "x".repeat(TEXT_BYTES))
          : line,
      )
      .join("\n"),
  );

  await using daemon = await home.start({ cliHome: codexHome });
  const { client } = daemon;
  const other = await client.createSession({ cwd: workspace });
  const turn = runTurn(client, other.session.id, "hold");
  await home.folders.model.findRequest(({ lastUserText }) => lastUserText === "hold");

  const threadId = (await client.threads.list()).data[0]?.id ?? "";
  const { command, session } = await client.threads.import(threadId, {}, { wait: 50_000 });
  expect(command).toMatchObject({ state: "done", problem: null });
  const { data } = await client.request("GET /sessions/{sessionId}/turns", {
    params: { sessionId: session.id },
  });
  expect(data.map(({ title }) => title)).toEqual(["three", "two", "one"]);
  hold.open();
  expect(await turn).toBe("half whole");
  const diagnostics = await client.request("GET /sessions/{sessionId}/events", {
    params: { sessionId: other.session.id },
  });
  expect(diagnostics.events.some(({ type }) => type === "recovered")).toBe(false);
}, 240_000);
