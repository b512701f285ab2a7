// A guarded, budgeted reviewer: it reads files through tools, reports findings into a typed session, must read a file before it
// reports on it, and may not stop before it has written a summary. Runs without a key, on a scripted model.
import {
  Budget,
  Deadline,
  deadlineFeedback,
  definePrompt,
  definePromptTool,
  defineSlice,
  evaluate,
  filesExist,
  openWorkspace,
  readBeforeWrite,
  PromptSession,
  ToolFailure,
} from "@codexkit/prompts";
import { callTool, run } from "@codexkit/scripted-model";
import { Codex } from "codexkit";
import { z } from "zod";
import { setUpExample } from "./set-up-example.ts";

const findings = defineSlice<readonly { file: string; message: string }[]>({
  name: "findings",
  schema: z.array(z.object({ file: z.string(), message: z.string() })),
  initial: [],
});

const readFile = definePromptTool({
  name: "read_file",
  description: "Reads a file in the workspace",
  input: z.strictObject({ file: z.string() }),
  handler: ({ file }, { workspace }) => {
    if (!workspace?.exists(file)) throw new ToolFailure(`There is no file ${file}.`);
    return workspace.readText(file);
  },
});

const report = definePromptTool({
  name: "report",
  description: "Reports one finding about a file that has been read",
  input: z.strictObject({ file: z.string(), message: z.string() }),
  handler: ({ file, message }, { session }) => {
    session.update(findings, (all) => [...all, { file, message }]);
    return "Recorded.";
  },
});

const review = definePrompt({
  ns: "examples",
  key: "review",
  params: z.object({ focus: z.string() }),
  output: z.object({ verdict: z.enum(["approve", "reject"]), reason: z.string() }),
  sections: [
    { key: "task", title: "Task", render: ({ focus }) => `Review the code with a focus on ${focus}.` },
    { key: "files", title: "Workspace", render: (_params, { workspacePreview }) => workspacePreview ?? "" },
  ],
  tools: [readFile, report],
  policies: [readBeforeWrite({ read: { read_file: "file" }, write: { report: "file" } })],
  feedback: [deadlineFeedback({ everyCalls: 5 })],
  completion: filesExist("REVIEW.md"),
});

const verdict = JSON.stringify({ verdict: "reject", reason: "The password is in the code." });
await using setup = await setUpExample([
  callTool("report", { file: "login.js", message: "I guess it is bad." }), // denied: not read yet
  callTool("read_file", { file: "login.js" }),
  callTool("report", { file: "login.js", message: "The password is in the code." }),
  verdict, // sent back: REVIEW.md is missing
  run("echo 'One finding.' > REVIEW.md"),
  verdict,
]);

await using workspace = openWorkspace();
workspace.writeText("login.js", 'const password = "hunter2";\n');

await using codex = await Codex.launch(setup.launch);
const session = new PromptSession();
const { output, turns } = await evaluate(codex, review.bind({ focus: "security" }), {
  session,
  workspace,
  budget: new Budget({ totalTokens: 500_000 }),
  deadline: Deadline.in(5 * 60_000),
  thread: { sandbox: "workspace-write" },
});

console.log(`${output.verdict}: ${output.reason}`);
console.log("findings:", session.get(findings));
console.log(`turns: ${turns.length}`);
