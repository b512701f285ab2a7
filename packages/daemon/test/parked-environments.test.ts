// Requests that Codex sends only on a managed machine or in an execution environment, parked and answered later.
import { code, run, say, type ScriptFunction } from "@codexkit/scripted-model";
import { findCodex, managedCodex, tempFolder } from "@codexkit/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { runsOf } from "./parked-kinds.ts";
import { startRunner, type TestRunnerOptions, type TestSession } from "./start-runner.ts";

const LIMITS = { retryMs: 20, claimMs: 50 };

/** Codex asks about hosts only if an administrator manages its network. */
const REQUIREMENTS = `
[experimental_network]
enabled = true
allow_local_binding = true
`;

/** Parks the session, answers its only request, and returns the end of the turn that continues. */
async function answerParked(session: TestSession, offer: string) {
  const [row] = await session.approval();
  expect(await session.run("park", {})).toEqual({ ok: true, parked: 1 });
  const { seq } = (await session.events()).at(-1) ?? { seq: 0 };
  await session.answer(row, { type: "decision", offer });
  const end = await session.ended(undefined, seq);
  const delivered = (await session.events()).find(({ type }) => type === "inbox.delivered");
  return {
    row,
    strategy: delivered && "strategy" in delivered ? delivered.strategy : undefined,
    response: end.type === "turn.completed" ? end.result.finalResponse : end.type,
  };
}

/** A command that counts itself, and then sends a request through Codex's proxy: common HTTP clients bypass it for this host. */
function visit(address: string, name: string): string {
  const request = String.raw`GET http://${address}/ HTTP/1.1\r\nHost: ${address}\r\nConnection: close\r\n\r\n`;
  return `echo ran >> ${name}; proxy=\${HTTP_PROXY#http://}; exec 3<>/dev/tcp/\${proxy%:*}/\${proxy##*:}; printf '${request}' >&3; cat <&3`;
}

const EXPECTED = {
  accept: /A person accepted the connection of the command to 127\.0\.0\.1\..*may have had effects/,
  decline: /A person declined the connection of the command to 127\.0\.0\.1\..*may have had effects/,
};

test.each([
  { caller: "the model", offer: "accept", model: "gpt-5.5" },
  { caller: "the model", offer: "decline", model: "gpt-5.5" },
  { caller: "a script", offer: "accept", model: "gpt-6.1-sol" },
  { caller: "a script", offer: "decline", model: "gpt-6.1-sol" },
] as const)(
  "a connection of a command of $caller is reported, and the command is not run again: $offer",
  async ({ caller, offer, model }) => {
    const web = createServer((_request, response) => response.end("a page\n"));
    web.listen(0, "127.0.0.1");
    await once(web, "listening");
    const command = visit(`127.0.0.1:${(web.address() as AddressInfo).port}`, "visited");
    const script: ScriptFunction = ({ input, outputs }) => {
      if (outputs.length > 0) return say(JSON.stringify([outputs.length, input]));
      const cmd = JSON.stringify(command);
      return caller === "the model"
        ? run(command, { callId: "call" })
        : code(`text(await tools.exec_command({cmd: ${cmd}}))`, { callId: "call" });
    };
    try {
      await using managed = await managedCodex(REQUIREMENTS);
      const options: TestRunnerOptions = {
        limits: LIMITS,
        codex: {
          codexPath: managed.codexPath,
          wrapperArgs: managed.wrapperArgs,
          config: { sandbox_workspace_write: { network_access: true } },
        },
      };
      await using stage = await startRunner(script, options);
      const session = await stage.create({ permissionMode: "workspace-write", model });
      await session.send("go");
      const { row, strategy, response } = await answerParked(session, offer);
      expect(JSON.parse(row?.request ?? "")).toMatchObject({ network: { host: "127.0.0.1" } });
      expect(strategy).toBe("report");
      const [outputs] = JSON.parse(response) as [number, unknown];
      expect(outputs).toBe(1);
      expect(response).toMatch(EXPECTED[offer]);
      expect(await runsOf(stage.workspace, "visited")).toBe(1);
    } finally {
      web.close();
    }
  },
);

test.each([
  { offer: "accept", strategy: "rewind", output: /exited with code 0[^]*done/, runs: 1 },
  { offer: "decline", strategy: "inject", output: /rejected by user/, runs: 0 },
])(
  "a command in an execution environment runs there after the model has decided again: $offer",
  async ({ offer, strategy, output, runs }) => {
    await using remote = await tempFolder("remote");
    await using stage = await startRunner(
      ({ newOutputs }) =>
        newOutputs.length > 0
          ? say(newOutputs.map(({ text }) => text).join())
          : run("echo ran >> made; echo done", { callId: "call", escalate: "why" }),
      { limits: LIMITS },
    );
    const server = spawn(findCodex({}).path, ["exec-server", "--listen", "ws://127.0.0.1:0"], {
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, ...stage.options.codex?.env },
    });
    try {
      const [line] = (await once(server.stdout, "data")) as [Buffer];
      const environment = { url: line.toString().trim() };
      const session = await stage.create({ cwd: remote.path, environment, permissionMode: "read-only" });
      await session.send("go");
      const answered = await answerParked(session, offer);
      expect(answered.strategy).toBe(strategy);
      expect(answered.response).toMatch(output);
      expect(await runsOf(remote.path, "made")).toBe(runs);
    } finally {
      server.kill("SIGKILL");
    }
  },
);
