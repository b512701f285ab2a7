import { askUser, callTool, patch, run, type Script, say } from "@codexkit/scripted-model";
import { existsSync } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DaemonHome, PHONE, pressButton, startRealDaemon, useBrowser } from "./rig/index.ts";

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
  await pressButton(card.getByRole("button", { name: "Allow once" }));
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
  await pressButton(card.getByRole("button", { name: "Decline…" }));
  await card.getByLabel("Tell the agent what to do instead").fill("Only describe the file.");
  await pressButton(card.getByRole("button", { name: "Decline", exact: true }));
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
  await pressButton(card.getByRole("button", { name: "Send the answer" }));
  await page.getByText("Blue it is.").first().waitFor();
  expect(seen.some((body) => body.includes("Blue") && body.includes("function_call_output"))).toBe(true);
});

test("a form of an MCP server is filled in, and the server receives the answer", async () => {
  const script: Script = ({ outputs: [output] }) => {
    if (!output) return callTool("ask", {}, { namespace: "mcp__till" });
    return say(/name\W+Ann/.test(output.text) ? "It is Ann." : output.text);
  };
  await using daemon = await startRealDaemon(script);
  const { session } = await daemon.client.createSession(
    {
      cwd: daemon.workspace,
      name: "Forms",
      mcpServers: {
        till: {
          command: process.execPath,
          args: ["--conditions=codexkit:source", join(import.meta.dirname, "../../sdk/test/mcp-server.ts")],
        },
      },
    },
    { wait: 20_000 },
  );
  await daemon.client.send(session.id, "Ask for a name");
  const page = await browser.open(daemon, `/s/${session.id}`);
  const card = page.getByRole("article", { name: "till asks" });
  await card.getByText("What is your name?").waitFor();
  await card.getByLabel("Name").fill("Ann");
  await pressButton(card.getByRole("button", { name: "Send the form" }));
  await page.getByText("It is Ann.").first().waitFor();
});

test("a part of the requested permissions is granted", async () => {
  const script: Script = ({ outputs, input }) => {
    const [output] = outputs;
    if (output) return say(`Granted: ${output.text}`);
    const folder =
      /"cwd":"([^"]+)"|<cwd>([^<]+)</.exec(JSON.stringify(input))?.slice(1).find(Boolean) ?? "/tmp";
    return callTool("request_permissions", {
      reason: "The tests need both.",
      permissions: { network: { enabled: true }, file_system: { write: [folder] } },
    });
  };
  await using home = await DaemonHome.create(script);
  await appendFile(
    join(home.options.stateFolder, "codex/config.toml"),
    "\nfeatures.request_permissions_tool=true\n",
  );
  await using daemon = await home.start();
  const { session } = await daemon.client.createSession(
    { cwd: daemon.workspace, name: "Permissions" },
    { wait: 20_000 },
  );
  await daemon.client.send(session.id, "Ask for permissions");
  const page = await browser.open(daemon, `/s/${session.id}`);
  const card = page.getByRole("article", { name: "Grant permissions" });
  await card.getByText("The tests need both.").waitFor();
  await card.getByRole("checkbox", { name: /network/i }).check();
  await pressButton(card.getByRole("button", { name: "Grant for this turn" }));
  await page
    .getByText(/Granted: .*"network":\{"enabled":true\},"file_system":null/)
    .first()
    .waitFor();
});

test("on a phone, a session is created and its requests are answered by touch alone", async () => {
  const script: Script = ({ outputs }) => {
    if (outputs.length === 0) return run("touch first", { escalate: "The first file." });
    return outputs.length === 1
      ? run("touch second", { escalate: "The second file." })
      : say("Both are answered.");
  };
  await using daemon = await startRealDaemon(script);
  const page = await browser.open(daemon, "/sessions", { viewport: PHONE, hasTouch: true });
  await page.getByRole("link", { name: "New session" }).tap();
  await page.getByLabel("Folder", { exact: true }).fill(daemon.workspace);
  await page.getByText("Read only", { exact: true }).tap();
  await page.getByLabel("First message").fill("Make files");
  await page.getByRole("button", { name: "Start" }).tap();
  const card = page.getByRole("article", { name: "Run a command" });
  await card.getByText("The first file.").waitFor();
  await pressButton(card.getByRole("button", { name: "Allow once" }), "tap");
  await page.getByText(/Allowed once by you/).waitFor();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: /Inbox/ }).tap();
  await card.getByText("The second file.").waitFor();
  await pressButton(card.getByRole("button", { name: "Decline…" }), "tap");
  await card.getByLabel("Tell the agent what to do instead").fill("One is enough.");
  await pressButton(card.getByRole("button", { name: "Decline", exact: true }), "tap");
  await page.getByText(/Declined by you/).waitFor();
  await page
    .getByRole("navigation", { name: "Main" })
    .getByRole("link", { name: "Session", exact: true })
    .tap();
  await page.getByRole("log").getByText("Both are answered.").first().waitFor();
  expect(existsSync(join(daemon.workspace, "first"))).toBe(true);
  expect(existsSync(join(daemon.workspace, "second"))).toBe(false);
});
