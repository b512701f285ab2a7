import { askUser, patch, run, type Script, say } from "@codexkit/scripted-model";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startRealDaemon, useBrowser } from "./rig/index.ts";

const browser = useBrowser();

const PATCH = `*** Begin Patch
*** Add File: notes.md
+# Notes
+the first line
*** End Patch`;

test("a patch is allowed with its diff in view, and Codex writes it", async () => {
  const script: Script = ({ outputs }) => (outputs.length === 0 ? patch(PATCH) : say("Written."));
  await using daemon = await startRealDaemon(script);
  const { session } = await daemon.client.createSession(
    { cwd: daemon.workspace, name: "Notes", permissionMode: "read-only" },
    { wait: 20_000 },
  );
  await daemon.client.send(session.id, "Write notes");
  const page = await browser.open(daemon, `/s/${session.id}`);
  const card = page.getByRole("article", { name: "Change a file" });
  await card.getByRole("group", { name: "Changes to approve" }).getByText("the first line").waitFor();
  expect(existsSync(join(daemon.workspace, "notes.md"))).toBe(false);
  await card.getByRole("button", { name: "Allow once" }).click();
  await page.getByText(/Allowed once by you/).waitFor();
  await expect.poll(() => existsSync(join(daemon.workspace, "notes.md"))).toBe(true);
  expect(await readFile(join(daemon.workspace, "notes.md"), "utf8")).toBe("# Notes\nthe first line\n");
});

test("the sentence of a refusal reaches the model", async () => {
  const seen: string[] = [];
  const script: Script = (request) => {
    seen.push(JSON.stringify(request.body));
    if (request.outputs.length === 0) return run("touch made", { escalate: "It writes." });
    return say("As you wish.");
  };
  await using daemon = await startRealDaemon(script);
  const { session } = await daemon.client.createSession(
    { cwd: daemon.workspace, name: "Refused", permissionMode: "read-only" },
    { wait: 20_000 },
  );
  await daemon.client.send(session.id, "Make a file");
  const page = await browser.open(daemon, "/inbox");
  const card = page.getByRole("article", { name: "Run a command" });
  await card.getByText("It writes.").waitFor();
  await card.getByRole("button", { name: "Decline…" }).click();
  await card.getByLabel("Tell the agent what to do instead").fill("Only describe the file.");
  await card.getByRole("button", { name: "Decline", exact: true }).click();
  await page.getByText(/Declined by you/).waitFor();
  await expect.poll(() => seen.some((body) => body.includes("Only describe the file."))).toBe(true);
  expect(existsSync(join(daemon.workspace, "made"))).toBe(false);
});

test("a question of the plan mode is answered", async () => {
  const seen: string[] = [];
  const script: Script = (request) => {
    seen.push(JSON.stringify(request.body));
    if (request.outputs.length > 0) return say("Blue it is.");
    return askUser([
      {
        id: "colour",
        header: "Colour",
        question: "Which colour?",
        options: [
          { label: "Blue", description: "as the sky" },
          { label: "Green", description: "as grass" },
        ],
      },
    ]);
  };
  await using daemon = await startRealDaemon(script);
  const { session } = await daemon.client.createSession(
    { cwd: daemon.workspace, name: "Plan", agentMode: "plan" },
    { wait: 20_000 },
  );
  await daemon.client.send(session.id, "Plan it");
  const page = await browser.open(daemon, `/s/${session.id}`);
  const card = page.getByRole("article", { name: "Answer a question" });
  await card.getByLabel("Blue").check();
  await card.getByRole("button", { name: "Send the answer" }).click();
  await page.getByText("Blue it is.").first().waitFor();
  expect(seen.some((body) => body.includes("Blue") && body.includes("function_call_output"))).toBe(true);
});
