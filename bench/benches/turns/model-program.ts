// A child process with the scripted model on its own port. Prints its address once, and runs until its parent
// closes the channel or exits.

import { ScriptedModel, type Script } from "@codexkit/scripted-model";

// Ctrl-C reaches the whole process group of the terminal; the parent decides when running turns are over.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());

const [, , module = ""] = process.argv;
const { script } = (await import(module)) as { readonly script: Script };
// Its record of requests is not used.
const model = await ScriptedModel.start(script, { keepRequests: 1 });
process.send?.(model.url);
