import { tempFolder } from "@codexkit/testing";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { startServer } from "../../../test/servers.ts";
import { ExecClient } from "../../client/exec-client.ts";

test("finds the same plugins and skills as Codex does", async () => {
  await using folder = await tempFolder("roots");
  const files: Record<string, string> = {
    "plugin/.codex-plugin/plugin.json": '{"name":"p"}',
    "plugin/.mcp.json": "{}",
    "plugin/skills/one/SKILL.md": "---\nname: one\n---\n",
    "plugin/skills/one/agents/openai.yaml": "a: 1\n",
    "inline/.claude-plugin/plugin.json": '{"name":"q","mcpServers":{"x":{}}}',
    "inline/.mcp.json": "{}",
    "plain/notes.txt": "x",
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), content);
  }
  const roots = ["plugin", "inline", "plain", "missing", "plugin/skills"].map((name) => ({
    id: name,
    path: `file://${folder.path}/${name}`,
  }));
  const answers: unknown[] = [];
  for (const kind of ["ours", "codex"] as const) {
    await using server = await startServer(kind);
    await using client = await ExecClient.connect(server.url);
    const { roots: found } = (await client.request("capabilityRoots/discoverV1", { roots })) as {
      roots: { error: unknown }[];
    };
    answers.push(found.map((root) => ({ ...root, error: root.error !== null })));
    const many = Array.from({ length: 129 }, (_, index) => ({ id: String(index), path: "file:///" }));
    await expect(client.request("capabilityRoots/discoverV1", { roots: many })).rejects.toMatchObject({
      rpcCode: -32600,
    });
  }
  expect(answers[0]).toEqual(answers[1]);
});
