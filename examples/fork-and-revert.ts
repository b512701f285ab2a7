// Two ways to go back: fork the thread at an earlier point, or revert the thread itself.
import { say } from "@codexkit/scripted-model";
import { Codex } from "codexkit";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample(({ lastUserText }) => say(`You said: ${lastUserText}`));

await using codex = await Codex.launch(setup.launch);
const thread = await codex.startThread({ cwd: setup.folder });
await thread.run("first");
const second = thread.run("second");
const { finalResponse } = await second;
console.log(finalResponse);

// A copy that ends before the second turn. The original is not changed.
const fork = await thread.fork({ beforeTurnId: await second.id });
console.log((await fork.run("second, another way")).finalResponse);

// Removes the second turn from the thread itself.
await thread.revert(await second.id);
const turns = await Array.fromAsync(thread.history.turns());
console.log(`${turns.length} turn left`);
