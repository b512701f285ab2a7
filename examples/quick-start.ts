// Runs one turn.
import { say } from "@codexkit/scripted-model";
import { Codex } from "codexkit";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample([[say("It is a folder with nothing in it yet.")]]);

await using codex = await Codex.launch(setup.launch);
const thread = await codex.startThread({ cwd: setup.folder, sandbox: "read-only" });
const { finalResponse, usage } = await thread.run("What is in this folder?");

console.log(finalResponse);
console.log(`${usage.totalTokens} tokens`);
