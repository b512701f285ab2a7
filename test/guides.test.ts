// Runs every code sample of docs/guides as a program, on the real codex and a scripted model.
import { callTool, run, say, type ScriptFunction } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import { execFile } from "node:child_process";
import { globSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { readDocBlocks } from "./doc-blocks.ts";

const root = join(import.meta.dirname, "..");

/** The expected output of each sample, in the order of the guide. */
const expectations: Readonly<Record<string, readonly RegExp[]>> = {
  approvals: [/Codex wants to run .*npm test.*\nDone\./, /allow .*\nDone\./],
  chat: [
    /^\[ 'approval\.opened' \]\n$/,
    /^200 Allow ls\? approval-1\n200\n$/,
    /^approval-1 \{"type":"decision","offer":"accept",[^]*\napproval-2 \{"type":"decision","offer":"decline",/,
  ],
  "cli-threads": [/^$/, /^$/],
  errors: [/^Hello\.\n$/],
  "first-turn": [/^Hello\.\n\d+ tokens\n$/],
  migrating: [/^Hello\.\n$/, /^Hello\.\n$/],
  move: [/^\[ 'to be moved' \] true\n$/],
  replay: [/^$/],
  sessions: [/^Hello\.\n[\da-f-]{36} Remember the number 42\n$/, /^1\n$/],
  streaming: [/^\$ .*ls.* \(exit code 0\)\nDone\.\n\d+ tokens\n\d+ \n$/, /^Hello\.$/],
  "structured-output": [/^a\.test\.ts 3\n$/, /^a\.test\.ts\n$/],
  terminal: [/answer: 42\r?\n[^]*exit code 0\n$/],
  testing: [/^$/, /^http:\/\/127\.0\.0\.1:\d+\/v1\n$/],
  tools: [/"temperature": -3/, /^[\da-f-]{36}\n$/],
  troubleshooting: [/^\d+\n$/, /^none\n$/],
};

/** Calls the functions of samples that only define them. */
const callers: Readonly<Record<string, string>> = {
  "chat-2": `
    import { createHmac } from "node:crypto";
    const key = Buffer.from("a key of more than twenty-four bytes");
    const body = JSON.stringify({
      type: "approval.opened",
      approval: { id: "approval-1", request: { kind: "command", command: "ls" } },
    });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", key).update("message-1." + timestamp + "." + body).digest("base64");
    const headers = {
      "webhook-id": "message-1",
      "webhook-timestamp": timestamp,
      "webhook-signature": "v1," + signature,
    };
    const posted = [];
    // A message may be delivered twice.
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const request = new Request("http://bot.example", { method: "POST", headers, body });
      const { status } = await onWebhook(request, "whsec_" + key.toString("base64"), async (message) => {
        posted.push(message.text, message.value);
      });
      console.log(status, ...posted.splice(0));
    }`,
  "chat-3": `
    const client = { answer: async (id, answer) => console.log(id, JSON.stringify(answer)) };
    await onReply(client, "approval-1", "yes");
    await onReply(client, "approval-2", "no");`,
  "move-1": `
    import { createDaemon } from "@codexkit/daemon";
    const open = async (name) => {
      const daemon = await createDaemon({ stateFolder: name, logger: "silent" });
      const { token } = await daemon.tokens.create({ name, scopes: ["read", "write", "admin"], by: name });
      return { daemon, client: new DaemonClient({ url: await daemon.listen(), token }) };
    };
    const [from, to] = [await open("here"), await open("there")];
    const cwd = process.cwd();
    const { session } = await from.client.createSession({ cwd, name: "to be moved" }, { wait: 20_000 });
    const id = await move(session.id, cwd, { here: from.client, there: to.client });
    const { data } = await to.client.request("GET /sessions", {});
    console.log(data.map(({ name }) => name), data[0].id === id);
    await Promise.all([from.daemon.close(), to.daemon.close()]);`,
};

const script: ScriptFunction = (request) => {
  const [output] = request.newOutputs;
  if (output) return say(request.lastUserText.includes("weather") ? output.text : "Done.");
  if (request.body["text"] !== undefined && JSON.stringify(request.body["text"]).includes("schema"))
    return say('{"file":"a.test.ts","line":3}');
  if (request.lastUserText.includes("weather")) return callTool("weather", { city: "Oslo" });
  if (request.lastUserText.includes("Run the tests"))
    return run("npm test", { escalate: "It needs the network." });
  if (request.lastUserText.includes("List the files")) return run("ls");
  return say("Hello.");
};

const samples = globSync("docs/guides/*.md", { cwd: root })
  .toSorted()
  .flatMap((path) => {
    const guide = basename(path, ".md");
    return readDocBlocks(path).map(({ code }, index) => ({
      name: `${guide}-${index + 1}`,
      source: code,
      prints: expectations[guide]?.[index],
    }));
  });

describe("the samples of the guides", () => {
  it("all have an expected output", () => {
    expect(samples.length).toBe(Object.values(expectations).flat().length);
  });

  it.each(samples)("$name", async ({ name, source, prints }) => {
    await using folders = await codexFolders({ model: script, modelName: "gpt-5.5" });
    const file = join(folders.root, `${name}.mts`);
    writeFileSync(file, source + (callers[name] ?? ""));
    symlinkSync(join(root, "node_modules"), join(folders.root, "node_modules"), "junction");
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=codexkit:source", file], {
      cwd: folders.workspace,
      env: folders.env,
    });
    expect(stdout).toMatch(prints ?? /never/);
  });
});
