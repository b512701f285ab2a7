// Two ways to take another path: a copy of the thread from an earlier point, and cutting back the thread itself.
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

// A copy that ends before the second turn; the original is as it was.
const fork = await thread.fork({ beforeTurnId: await second.id });
console.log((await fork.run("second, another way")).finalResponse);

// The same thread, cut back to before its second turn.
await thread.revert(await second.id);
const turns = await Array.fromAsync(thread.history.turns());
console.log(`${turns.length} turn left`);
