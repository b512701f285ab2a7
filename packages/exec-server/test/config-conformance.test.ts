// Ours and Codex's server, asked the same of the same folders.
import { tempFolder } from "@codexkit/testing";
import { execFileSync } from "node:child_process";
import { mkdir, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { meaning, putFiles } from "./config-files.ts";
import { type ServerKind, startProgram } from "./servers.ts";
import { ExecClient } from "../src/client/exec-client.ts";
import type { EnvironmentConfig } from "../src/wire/exec-wire.ts";

interface Case {
  readonly name: string;
  /** Files to write first; what earlier cases wrote is gone. */
  readonly files: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly configPaths?: string[][];
  readonly requirementsPaths?: string[][];
  readonly worktree?: boolean;
}

const START_MS = 60_000;
const trusted = (folder: string): string => `[projects."${folder}"]\ntrust_level = "trusted"\n`;
const PROJECT = {
  "p/.git/HEAD": "x",
  "p/.codex/config.toml": "a = 5\n",
  "p/s/.codex/config.toml": "a = 6\n",
};
const VALUES = `[t]
"a.b" = 1
c = { d = 1, e = [1, 2] }
nl = "x\\ny"
when = 1979-05-27T07:32:00Z
[t.u.v]
w = nan
l = 07:32:00
exp = 1e30
mix = [1, "a", { k = 1 }]
[[t.z]]
a = 1
[[t.z]]
b = {}
`;
const DENIED = `notify = ["x"]
model = "m"
profile = "x"
[model_providers.x]
base_url = "u"
[features]
respect_system_proxy = true
other = true
[tui.keymap.chat]
next_permission_mode = "x"
other = "y"
`;

const CASES = (root: string): Case[] => [
  { name: "nothing", files: {} },
  { name: "no path", files: {}, configPaths: [] },
  { name: "an empty path", files: {}, configPaths: [["a"], []] },
  { name: "a foreign folder", files: {}, cwd: "file:///C:/x" },
  {
    name: "the person's",
    files: { "home/config.toml": `a = 1\nb = 2\n${VALUES}` },
    configPaths: [["a"], ["t"]],
  },
  {
    name: "a part",
    files: { "home/config.toml": VALUES },
    configPaths: [
      ["t", "c", "e"],
      ["t", "u"],
    ],
  },
  { name: "a missing folder", files: { "home/config.toml": "a = 1\n" }, cwd: "none/deep" },
  { name: "broken", files: { "home/config.toml": "a =\n" } },
  { name: "not trusted", files: { ...PROJECT, "home/config.toml": "a = 1\n" } },
  { name: "trusted", files: { ...PROJECT, "home/config.toml": `a = 1\n${trusted(`${root}/p`)}` } },
  {
    name: "partly trusted",
    files: {
      ...PROJECT,
      "home/config.toml": `${trusted(`${root}/p`)}[projects."${root}/p/s"]\ntrust_level = "untrusted"\n`,
    },
  },
  { name: "bad trust", files: { "home/config.toml": '[projects."/x"]\ntrust_level = "maybe"\n' } },
  { name: "broken, not trusted", files: { ...PROJECT, "p/s/.codex/config.toml": "a =\n" } },
  {
    name: "broken, trusted",
    files: { ...PROJECT, "p/s/.codex/config.toml": "a =\n", "home/config.toml": trusted(`${root}/p`) },
  },
  {
    name: "what a project may not say",
    files: { ...PROJECT, "p/s/.codex/config.toml": DENIED, "home/config.toml": trusted(`${root}/p`) },
    configPaths: ["notify", "model", "profile", "model_providers", "features", "tui"].map((key) => [key]),
  },
  {
    name: "other marks",
    files: {
      ...PROJECT,
      "p/s/mark": "",
      "home/config.toml": `project_root_markers = ["mark"]\n${trusted(`${root}/p/s`)}`,
    },
  },
  { name: "bad marks", files: { "home/config.toml": "project_root_markers = 3\n" } },
  {
    name: "home as a project",
    files: { "home/config.toml": "a = 1\n", "home/.codex/config.toml": "a = 2\n" },
    cwd: "home",
  },
  {
    name: "a worktree has its main checkout's trust and hooks",
    files: {
      "home/config.toml": trusted(`${root}/main`),
      "main/.codex/config.toml": "a = 1\n[hooks]\nx = 1\n",
    },
    cwd: "tree",
    configPaths: [["a"], ["hooks"]],
    worktree: true,
  },
  {
    name: "a forged worktree",
    files: {
      "home/config.toml": trusted(`${root}/main`),
      "main/.codex/config.toml": "a = 1\n",
      "forged/.git": `gitdir: ${root}/main/.git/worktrees/tree\n`,
      "forged/.codex/config.toml": "a = 2\n",
    },
    cwd: "forged",
    worktree: true,
  },
];

async function setUp(root: string, { files, worktree }: Case): Promise<void> {
  for (const name of ["home/config.toml", "home/.codex", "p", "main", "tree", "forged"]) {
    await rm(join(root, name), { recursive: true, force: true });
  }
  await putFiles(root, files);
  if (!worktree) return;
  const git = (...args: string[]): unknown =>
    execFileSync("git", ["-C", join(root, "main"), "-c", "user.name=a", "-c", "user.email=a@b", ...args]);
  git("init", "--quiet");
  git("add", "--all");
  git("commit", "--quiet", "--message", "x");
  git("worktree", "add", "--quiet", join(root, "tree"));
  await putFiles(root, { "tree/.codex/config.toml": "a = 2\n[hooks]\ny = 1\n" });
}

async function answers(kind: ServerKind, root: string): Promise<Map<string, unknown>> {
  await using server = await startProgram(kind, [], { CODEX_HOME: join(root, "home"), HOME: root });
  await using client = await ExecClient.connect(server.url);
  const found = new Map<string, unknown>();
  for (const one of CASES(root)) {
    await setUp(root, one);
    const { name, cwd = "p/s", configPaths = [["a"]], requirementsPaths = [] } = one;
    const uri = cwd.startsWith("file:") ? cwd : `file://${root}/${cwd}`;
    const answer = await client
      .request("environmentConfig/read", { cwd: uri, configPaths, requirementsPaths })
      .then(
        ({ config, requirements, ...rest }: EnvironmentConfig) => ({
          ...rest,
          // A resolver may give Codex a longer name of the same machine.
          hostname: rest.hostname?.split(".")[0],
          config: meaning(config),
          requirements: meaning(requirements),
        }),
        ({ rpcCode }: { rpcCode: number }) => ({ rpcCode }),
      );
    found.set(name, answer);
  }
  return found;
}

test("answers as Codex's server does", { timeout: START_MS }, async () => {
  await using folder = await tempFolder("config");
  const root = await realpath(folder.path);
  await mkdir(join(root, "home"));
  const ours = await answers("ours", root);
  expect(ours).toEqual(await answers("codex", root));
  // What both agree on is not that they refuse everything.
  expect(ours.get("trusted")).toMatchObject({ config: { layers: [{}, {}, {}] } });
  expect(ours.get("broken")).toEqual({ rpcCode: -32603 });
  expect(ours.get("no path")).toEqual({ rpcCode: -32602 });
  expect(ours.get("an empty path")).toEqual({ rpcCode: -32602 });
});
