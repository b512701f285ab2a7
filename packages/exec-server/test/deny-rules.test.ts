// What a profile denies or makes read-only stays so, in every form that Codex sends and whatever is on the disk.
import { run, say } from "@codexkit/scripted-model";
import { startAppServer, startTurn } from "@codexkit/testing";
import { access, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { deny, sandboxFixture, type SandboxEntry, special } from "./sandbox-fixture.ts";
import { ExecServer } from "../src/server/exec-server.ts";

const kinds = ["ours", "codex"] as const;
const SECRET = "top-secret";

const refused = (rpcCode: number): unknown => expect.objectContaining({ rpcCode });
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

describe.each(kinds)("on %s, a deny pattern", (kind) => {
  const forms: [string, (at: (path: string) => string) => string][] = [
    ["relative to the workspace roots", () => "codex-project-roots://**/*.env"],
    ["absolute", (at) => at("ws/**/*.env")],
    ["relative to the working directory", () => "**/*.env"],
  ];
  test.each(forms)("%s covers dotfiles and hidden folders", async (_form, pattern) => {
    await using it = await sandboxFixture(kind);
    for (const path of ["a.env", ".env", "sub/.env", ".hidden/deep/x.env"]) await it.put(`ws/${path}`);
    await it.put("ws/other.txt", "readable");
    const { output } = await it.run(
      "cat a.env .env sub/.env .hidden/deep/x.env; cat other.txt",
      it.workspaceWrite([deny(pattern(it.at))]),
    );
    expect(output).not.toContain(SECRET);
    expect(output.match(/Permission denied/g)?.length).toBe(4);
    expect(output).toContain("readable");
  });

  test.each([
    ["folders with line breaks in their names", "**/*.env", "a\nb/.env"],
    ["a single alternative", "**/{.env}", "a/.env"],
  ])("covers %s", async (_what, pattern, path) => {
    await using it = await sandboxFixture(kind);
    await it.put(`ws/${path}`);
    const { output } = await it.run(`cat '${path}'; echo ran`, it.workspaceWrite([deny(pattern)]));
    expect(output).not.toContain(SECRET);
    expect(output).toContain("ran");
  });

  test("goes as deep as the profile says", async () => {
    await using it = await sandboxFixture(kind);
    await it.put("ws/x.env");
    await it.put("ws/sub/deep/x.env", "too deep to be found");
    const { output } = await it.run(
      "cat x.env sub/deep/x.env",
      it.workspaceWrite([deny("codex-project-roots://**/*.env")], 1),
    );
    expect(output).not.toContain(SECRET);
    expect(output).toContain("too deep to be found");
  });

  test("wins over a rule that grants the same file", async () => {
    await using it = await sandboxFixture(kind);
    await it.put("ws/sub/x.env");
    const { output } = await it.run(
      "cat sub/x.env",
      it.workspaceWrite([deny("codex-project-roots://**/*.env"), it.path("ws/sub", "write")]),
    );
    expect(output).not.toContain(SECRET);
  });

  test("that matches a link in the workspace refuses the command", async () => {
    await using it = await sandboxFixture(kind);
    await it.put("out/x");
    await symlink(it.at("out/x"), it.at("ws/link.env"));
    const { output, exitCode } = await it.run(
      "echo ran",
      it.workspaceWrite([deny("codex-project-roots://**/*.env")]),
    );
    expect(output).not.toContain("ran");
    expect(exitCode).not.toBe(0);
  });
});

describe.each(kinds)("on %s", (kind) => {
  test("a denied folder can have a writable folder in it", async () => {
    await using it = await sandboxFixture(kind);
    await it.put("ws/sub/secret");
    await it.put("ws/sub/open/file", "readable");
    const { output } = await it.run(
      "cat sub/open/file; echo x > sub/open/new && echo written; cat sub/secret; ls sub; touch sub/y || echo refused",
      it.workspaceWrite([it.path("ws/sub", "deny"), it.path("ws/sub/open", "write")]),
    );
    expect(output).toContain("readable");
    expect(output).toContain("written");
    expect(output).toContain("refused");
    expect(output).not.toContain(SECRET);
    expect(await exists(it.at("ws/sub/y"))).toBe(false);
  });

  test("a readable folder in a denied one stays denied", async () => {
    await using it = await sandboxFixture(kind);
    await it.put("ws/sub/open/file");
    const { output } = await it.run(
      "cat sub/open/file",
      it.workspaceWrite([it.path("ws/sub", "deny"), it.path("ws/sub/open", "read")]),
    );
    expect(output).not.toContain(SECRET);
  });

  test.each(["read", "deny"] as const)("a missing path with access %s can't be created", async (access_) => {
    await using it = await sandboxFixture(kind);
    const { output } = await it.run(
      "mkdir gone || echo refused; echo x > gone || echo refused; mkdir -p gone/deep || echo refused; echo x > fine",
      it.workspaceWrite([it.path("ws/gone", access_)]),
    );
    expect(output.match(/refused/g)?.length).toBe(3);
    expect(await exists(it.at("ws/fine"))).toBe(true);
    expect(await exists(it.at("ws/gone"))).toBe(false);
  });

  test("a .git file is protected, and so is the repository that it names", async () => {
    await using it = await sandboxFixture(kind);
    await it.put("ws/.git", "gitdir: repository\n");
    await it.put("ws/repository/config", "config");
    await it.run(
      "echo x > .git; rm -f .git; mv repository moved; echo x > repository/config; echo x > repository/hook",
      it.workspaceWrite(),
    );
    expect(await readFile(it.at("ws/.git"), "utf8")).toBe("gitdir: repository\n");
    expect(await readFile(it.at("ws/repository/config"), "utf8")).toBe("config");
    expect(await exists(it.at("ws/repository/hook"))).toBe(false);
  });

  test.each(["../real", "inside", "nowhere"])("a .git link to %s refuses the command", async (target) => {
    await using it = await sandboxFixture(kind);
    await mkdir(it.at("real"));
    await mkdir(it.at("ws/inside"));
    await symlink(target, it.at("ws/.git"));
    const { output } = await it.run("rm .git; mkdir .git; echo ran", it.workspaceWrite());
    expect(output).not.toContain("ran");
  });

  test("a .git that is created later is protected from the next command on", async () => {
    await using it = await sandboxFixture(kind);
    const attempt = "echo x > .git/hook && echo written; mkdir .git && echo made";
    expect((await it.run(attempt, it.workspaceWrite())).output).not.toMatch(/written|made/);
    expect(await exists(it.at("ws/.git"))).toBe(false);
    await mkdir(it.at("ws/.git"));
    expect((await it.run(attempt, it.workspaceWrite())).output).not.toMatch(/written|made/);
    expect(await exists(it.at("ws/.git/hook"))).toBe(false);
  });
});

describe("refused, because they can't be understood", () => {
  const cases: [string, SandboxEntry][] = [
    ["a pattern of an unknown scheme", deny("other-roots://**/*.env")],
    ["a pattern in someone's home", deny("~/**/*.env")],
    ["a pattern that grants", { path: { type: "glob_pattern", pattern: "**/*.md" }, access: "write" }],
    ["a pattern with a bracket that is not closed", deny("codex-project-roots://**/[a.env")],
  ];
  test.each(cases)("%s", async (_what, entry) => {
    await using it = await sandboxFixture();
    const sandbox = it.workspaceWrite([entry]);
    expect((await it.run("true", sandbox)).output).toContain("sandbox can't be enforced");
    await expect(it.client.files.write(it.at("ws/x"), "x", { sandbox })).rejects.toMatchObject({
      rpcCode: -32602,
    });
  });
});

test("file operations obey the same rules as commands", async () => {
  await using it = await sandboxFixture();
  const { files } = it.client;
  await it.put("ws/.env");
  await it.put("ws/sub/secret");
  await it.put("ws/sub/open/file", "readable");
  await it.put("ws/tree/.git/config", "x");
  await it.put("ws/plain", "x");
  await symlink(".aws", it.at("ws/dangling"));
  await it.put("ws/nested/up/.git/config", "x");
  await it.put("ws/nested/file", "gitdir: elsewhere");
  await mkdir(it.at("ws/has-folder-link"));
  await symlink("..", it.at("ws/has-folder-link/up"));
  await mkdir(it.at("ws/has-file-link"));
  await symlink("../.git", it.at("ws/has-file-link/file"));
  const sandbox = it.workspaceWrite([
    deny("codex-project-roots://**/*.env"),
    it.path("ws/sub", "deny"),
    it.path("ws/sub/open", "write"),
    it.path("ws/gone", "deny"),
    it.path("ws/deep/gone", "read"),
  ]);
  await expect(files.read(it.at("ws/.env"), { sandbox })).rejects.toEqual(refused(-32600));
  await expect(files.read(it.at("ws/sub/secret"), { sandbox })).rejects.toEqual(refused(-32004));
  expect(String(await files.read(it.at("ws/sub/open/file"), { sandbox }))).toBe("readable");
  const attempts: [string, () => Promise<unknown>][] = [
    ["a file at a missing path", () => files.write(it.at("ws/gone"), "x", { sandbox })],
    ["a folder at a missing path", () => files.makeDirectory(it.at("ws/gone"), { sandbox })],
    ["folders above a missing path", () => files.makeDirectory(it.at("ws/deep/gone/x"), { sandbox })],
    ["a protected folder", () => files.makeDirectory(it.at("ws/.git/hooks"), { sandbox })],
    ["a file through a link to nothing", () => files.write(it.at("ws/dangling"), "x", { sandbox })],
    ["a copy", () => files.copy(it.at("ws/plain"), it.at("ws/.codex"), { sandbox })],
    [
      "a tree that has a protected name in it",
      () => files.copy(it.at("ws/tree"), it.at("ws"), { sandbox, recursive: true }),
    ],
    [
      "a tree on a link to a folder",
      () => files.copy(it.at("ws/nested"), it.at("ws/has-folder-link"), { sandbox, recursive: true }),
    ],
    [
      "a tree on a link to nothing",
      () => files.copy(it.at("ws/nested"), it.at("ws/has-file-link"), { sandbox, recursive: true }),
    ],
    ["a stream", () => files.writeStream(it.at("ws/.agents"), [Buffer.from("x")], { sandbox })],
    ["a spelling with dots", () => files.write(it.at("ws/sub/../.git"), "x", { sandbox })],
  ];
  for (const [what, attempt] of attempts) {
    expect([what, await attempt().catch((error: unknown) => error)]).toEqual([what, refused(-32603)]);
  }
  for (const path of ["gone", "deep", ".git", ".aws", ".codex", ".agents"])
    expect([path, await exists(it.at(`ws/${path}`))]).toEqual([path, false]);
});

test("on an empty disk, denied folders among those that programs need are hidden too", async () => {
  await using it = await sandboxFixture();
  const sandbox = it.workspaceWrite();
  const entries = [
    special("minimal", "read"),
    special("project_roots", "write"),
    { path: { type: "path", path: "file:///usr/share" }, access: "deny" } as const,
  ];
  const permissions = {
    type: "managed",
    network: "restricted",
    file_system: { type: "restricted", entries },
  } as const;
  const { output } = await it.run("ls /usr/share && echo listed; echo ran", { ...sandbox, permissions });
  expect(output).toContain("ran");
  expect(output).not.toContain("listed");
});

test("a real codex with a profile that denies .env gets no secret", { timeout: 60_000 }, async () => {
  await using server = await ExecServer.start();
  await using app = await startAppServer({
    model: [[run("cat .env; cat sub/x.env; echo ran", { callId: "c" })], [say("done")]],
    config: [
      'default_permissions="p"',
      'permissions.p.filesystem={":minimal"="read", ":workspace_roots"={"."="write","**/*.env"="deny"}}',
    ],
    env: { CODEX_EXEC_SERVER_URL: server.url ?? "" },
  });
  await writeFile(join(app.workspace, ".env"), SECRET);
  await mkdir(join(app.workspace, "sub"));
  await writeFile(join(app.workspace, "sub/x.env"), SECRET);
  const peer = await app.connect();
  const { ended } = await startTurn(peer, { cwd: app.workspace, approvalPolicy: "never" });
  expect(await ended).toBe("completed");
  const output = app.model.requests.at(-1)?.commandResult("c")?.output;
  expect(output).toContain("ran");
  expect(output).not.toContain(SECRET);
});

describe.each(kinds)("on %s, a link that matches a deny pattern", (kind) => {
  test("can be removed, and then the workspace works", async () => {
    await using it = await sandboxFixture(kind);
    await it.put("outside");
    await it.put("ws/other.txt", "readable");
    await symlink(it.at("outside"), it.at("ws/link.env"));
    const sandbox = it.workspaceWrite([deny("codex-project-roots://**/*.env")]);
    expect((await it.run("cat link.env", sandbox)).output).not.toContain(SECRET);
    await it.client.files.remove(it.at("ws/link.env"), { sandbox });
    expect(await exists(it.at("outside"))).toBe(true);
    expect(await exists(it.at("ws/link.env"))).toBe(false);
    expect((await it.run("cat other.txt", sandbox)).output).toContain("readable");
  });
});

test("a protected link, a file, or a link in another place is not removed that way", async () => {
  await using it = await sandboxFixture();
  await it.put("outside");
  await it.put("ws/file.txt");
  for (const path of ["ws/link.env", "ws/.git", "link"]) await symlink(it.at("outside"), it.at(path));
  const sandbox = it.workspaceWrite([deny("codex-project-roots://**/*.env")]);
  for (const path of ["ws/.git", "ws/file.txt", "link"]) {
    await expect(it.client.files.remove(it.at(path), { sandbox })).rejects.toEqual(refused(-32602));
    expect(await exists(it.at(path))).toBe(true);
  }
});
