// A child process: the scripted model, on a port of its own. Says its address once, and lives until its parent lets go
// of the channel, in whatever way the parent ends.

import { ScriptedModel, type Script } from "@codexkit/scripted-model";

// Ctrl-C reaches the whole group of the terminal; the parent decides when the turns that run are over.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());

const [, , module = ""] = process.argv;
const { script } = (await import(module)) as { readonly script: Script };
// Its record of requests is not used.
const model = await ScriptedModel.start(script, { keepRequests: 1 });
process.send?.(model.url);
