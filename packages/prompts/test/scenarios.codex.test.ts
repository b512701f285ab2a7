// The compliance scenarios that every typed-prompt adapter must pass, under their usual names, on the real codex with a scripted
// model: Codex's own tools, workspaces and skills.
import { patch, run } from "@codexkit/scripted-model";
import { tempFolder } from "@codexkit/testing";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { launch, plain, task } from "./noting-prompt.ts";
import { definePrompt, evaluate, openWorkspace, PromptSession, ToolInvoked } from "../src/index.ts";

describe("codex", () => {
  test("native_tool_emits_tool_invoked", async () => {
    await using setup = await launch([
      run("echo hi"),
      patch("*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch"),
      run("exit 3"),
      "Done.",
    ]);
    await using workspace = openWorkspace();
    const session = new PromptSession();
    await evaluate(setup.codex, plain.bind(), { session, workspace, thread: { sandbox: "workspace-write" } });
    expect(session.eventsOf(ToolInvoked).map(({ tool, success }) => `${tool} ${success}`)).toEqual([
      "codex:command true",
      "codex:file_change true",
      "codex:command false",
    ]);
    expect(workspace.readText("new.txt")).toBe("hello\n");
  });

  test("workspace_mounts", async () => {
    await using host = await tempFolder("host");
    mkdirSync(join(host.path, "repo"));
    writeFileSync(join(host.path, "repo", "data.txt"), "from the host\n");
    await using setup = await launch([run("cat data.txt; echo changed > data.txt"), "Done."]);
    await using workspace = openWorkspace({
      mounts: [{ from: join(host.path, "repo") }],
      allowedRoots: [host.path],
    });
    const session = new PromptSession();
    await evaluate(setup.codex, plain.bind(), { session, workspace, thread: { sandbox: "workspace-write" } });
    expect(session.eventsOf(ToolInvoked)[0]?.text).toBe("from the host\n");
    expect(readFileSync(join(host.path, "repo", "data.txt"), "utf8")).toBe("from the host\n");
  });

  test("workspace_temp_cwd", async () => {
    await using setup = await launch([run("pwd"), "Done."]);
    const session = new PromptSession();
    let root: string;
    {
      await using workspace = openWorkspace();
      ({ root } = workspace);
      await evaluate(setup.codex, plain.bind(), {
        session,
        workspace,
        thread: { sandbox: "workspace-write" },
      });
    }
    expect(session.eventsOf(ToolInvoked)[0]?.text).toBe(`${root}\n`);
    expect(existsSync(root)).toBe(false);
  });

  test("workspace_custom_env", async () => {
    await using setup = await launch([run("echo $COLOUR"), "Done."]);
    await using workspace = openWorkspace();
    const session = new PromptSession();
    await evaluate(setup.codex, plain.bind(), { session, workspace, thread: { env: { COLOUR: "blue" } } });
    expect(session.eventsOf(ToolInvoked)[0]?.text).toBe("blue\n");
  });

  test.for([
    ["network_denied", false],
    ["network_allowed", true],
  ] as const)("%s", async ([, network]) => {
    await using server = await listen();
    const command = `node -e "fetch('http://127.0.0.1:${server.port}').then(() => console.log('reached'), () => console.log('blocked'))"`;
    await using setup = await launch([run(command), "Done."]);
    await using workspace = openWorkspace();
    const session = new PromptSession();
    await evaluate(setup.codex, plain.bind(), {
      session,
      workspace,
      thread: { sandbox: "workspace-write", network },
    });
    expect(session.eventsOf(ToolInvoked)[0]?.text).toBe(network ? "reached\n" : "blocked\n");
  });

  test.for([
    ["sandbox_restricts", "read-only", false],
    ["sandbox_allows", "workspace-write", true],
  ] as const)("%s", async ([, sandbox, isWritten]) => {
    await using setup = await launch([run("echo x > made.txt"), "Done."]);
    await using workspace = openWorkspace();
    await evaluate(setup.codex, plain.bind(), { workspace, thread: { sandbox } });
    expect(workspace.exists("made.txt")).toBe(isWritten);
  });

  test("skill_knowledge", async () => {
    await using host = await tempFolder("skills");
    const path = join(host.path, "greeting");
    mkdirSync(path);
    writeFileSync(join(path, "SKILL.md"), "---\nname: greeting\ndescription: How to greet\n---\nSay ahoy.\n");
    const skilled = definePrompt({
      ns: "ack",
      key: "skilled",
      sections: [{ ...task, skills: [{ name: "greeting", path }] }],
    });
    await using setup = await launch(["Ahoy!"]);
    await evaluate(setup.codex, skilled.bind());
    expect(JSON.stringify(setup.model.requests[0]?.body)).toContain("Say ahoy.");
  });
});

async function listen(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((_request, response) => response.end("ok"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
