// A command waits for a user who answers in another process, long after the first one has ended. Only the messages are kept in
// between; the turn waits in a codex that outlives both. Run it without arguments.
import { type CodexModelProvider, createCodex } from "@codexkit/ai-sdk";
import { run, say } from "@codexkit/scripted-model";
import { generateText, type ModelMessage } from "ai";
import { Codex } from "codexkit";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { setUpExample } from "./set-up-example.ts";

const [, program = "", part, url = "", folder = ""] = process.argv;
if (part === "ask") await ask();
else if (part === "answer") await answer();
else await play();

async function ask(): Promise<void> {
  const prompt: ModelMessage = { role: "user", content: "Run the tests" };
  await using codex = connect();
  const { responseMessages } = await generateText({ model: codex("gpt-5.5"), messages: [prompt] });
  await writeFile(join(folder, "messages.json"), JSON.stringify([prompt, ...responseMessages]));
  console.log("Codex waits for a person; this process ends.");
}

async function answer(): Promise<void> {
  const messages = JSON.parse(await readFile(join(folder, "messages.json"), "utf8")) as ModelMessage[];
  const parts = messages.flatMap(({ role, content }) =>
    role === "assistant" && typeof content !== "string" ? content : [],
  );
  const call = parts.find((one) => one.type === "tool-call");
  const request = parts.find((one) => one.type === "tool-approval-request");
  if (!request) throw new Error("Codex did not request an approval.");

  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const approved = (await terminal.question(`${JSON.stringify(call?.input)}\nAllow it? [y/N] `)) === "y";
  terminal.close();
  // Without `providerExecuted` the AI SDK treats the call as one of this program's own tools.
  const response = {
    type: "tool-approval-response",
    approvalId: request.approvalId,
    approved,
    providerExecuted: true,
  } as const;
  await using codex = connect();
  const { text } = await generateText({
    model: codex("gpt-5.5"),
    messages: [...messages, { role: "tool", content: [response] }],
  });
  console.log(text);
}

/** A suspended turn stays on the server when the provider is closed. */
function connect(): CodexModelProvider {
  return createCodex({ connect: { url }, cwd: folder, persist: true, approvalPolicy: "on-request" });
}

async function play(): Promise<void> {
  await using setup = await setUpExample([
    [run("echo tested", { escalate: "The tests need the network." })],
    [say("The tests pass.")],
  ]);
  const socket = `unix://${join(setup.folder, "..", "codex.sock")}`;
  await using _server = await Codex.launch({ ...setup.launch, listen: socket });
  for (const one of ["ask", "answer"]) {
    const args = [...process.execArgv, program, one, socket, setup.folder];
    await once(spawn(process.execPath, args, { stdio: "inherit" }), "exit");
  }
}
