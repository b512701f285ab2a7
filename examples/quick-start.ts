// One question, one answer.
import { say } from "@codexkit/scripted-model";
import { Codex } from "codexkit";
import { onAScript } from "./on-a-script.ts";

await using stage = await onAScript([[say("It is a folder with nothing in it yet.")]]);

await using codex = await Codex.launch(stage.launch);
const thread = await codex.startThread({ cwd: stage.folder, sandbox: "read-only" });
const { finalResponse, usage } = await thread.run("What is in this folder?");

console.log(finalResponse);
console.log(`${usage.totalTokens} tokens`);
