// Codex behind the provider contract, as a fleet runner uses it: a spec, events, a budget and rules.
import { CodexProvider } from "@codexkit/provider/codex";
import { run, say } from "@codexkit/scripted-model";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample(({ newOutputs }) =>
  newOutputs.length === 0 ? [run("git push --force"), run("echo tests pass")] : say("All is well."),
);

await using provider = await CodexProvider.create(setup.launch);
await using handle = await provider.spawn({
  prompt: "Run the tests and push",
  cwd: setup.folder,
  maxTurns: 10,
  maxTokens: 1_000_000,
  timeoutMs: 60_000,
  permissionConfig: { disallowPatterns: ["^npm publish"] },
});

for await (const event of handle.events) {
  if (event.kind === "tool_result" && !event.isError) console.log(event.toolName, event.content.trim());
  else if (event.kind === "system" && event.subtype === "approval_denied") console.log(event.message);
  else if (event.kind === "result") console.log(`${event.message} (${event.cost.turns} model calls)`);
  else if (event.kind === "error") console.error(event.code, event.message);
}
