import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A temporary home, workspace and outside folder in which accepted commands run for real. */
export interface World extends AsyncDisposable {
  /** Contains all of the folders below. */
  readonly root: string;
  readonly home: string;
  readonly workspace: string;
  readonly outside: string;
  /** The planted programs write here when they run. */
  readonly canary: string;
}

export async function createWorld(): Promise<World> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "codexkit-promise-")));
  const world = {
    root,
    home: join(root, "home"),
    workspace: join(root, "work"),
    outside: join(root, "outside"),
    canary: join(root, "canary"),
  };
  await plant(world);
  return { ...world, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

/** Programs in the workspace that have names of system programs. */
const PLANTED_PROGRAMS = ["cat", "git", "grep", "ls", "make", "node", "run.sh", "sed", "sort", "tool"];

async function plant({ home, workspace, outside, canary }: Omit<World, "root" | typeof Symbol.asyncDispose>) {
  for (const folder of [home, workspace, outside, canary]) await mkdir(folder);
  await plantFiles(home, {
    ".bashrc": "# shell\n",
    ".config/app.toml": "a = 1\n",
    ".gitconfig": "[user]\n\tname = A\n\temail = a@example.invalid\n",
    ".netrc": "machine x login y password z\n",
    ".profile": "# profile\n",
    ".ssh/id_ed25519": "key\n",
    "documents/letter.txt": "dear\n",
    "notes.txt": "notes\n",
  });
  await plantFiles(outside, {
    "data.txt": "data\n",
    "folder/inner.txt": "inner\n",
    "list.txt": "one\ntwo\n",
  });
  await plantFiles(workspace, {
    ".env": "SECRET=1\n",
    ".github/workflows/ci.yml": "on: push\n",
    ".vscode/tasks.json": "{}\n",
    "--output=options.txt": "named like an option\n",
    "-rf": "named like an option\n",
    "AGENTS.md": "# Instructions\n",
    "README.md": "# Project\n\nText with words.\n",
    "a.txt": "b\na\nc\n",
    "b.txt": "1 2 3\n4 5 6\n",
    "build/out.txt": "built\n",
    "data.json": '{"a":[1,2,{"b":"c"}]}\n',
    "name with blanks.txt": "x\n",
    "package.json": '{"name":"p","scripts":{"test":"touch ../canary/npm"}}\n',
    "src/deep/c.ts": "export const c = 1;\n",
    "src/index.ts": "export {};\n",
    "src/util.ts": "// TODO\nexport const util = 1;\n",
    "words.txt": "alpha\nbeta\ngamma\n",
  });
  for (const name of PLANTED_PROGRAMS) {
    const path = join(workspace, "bin", name);
    await plantFiles(workspace, { [`bin/${name}`]: `#!/bin/sh\necho ${name} >> ${canary}/executed\n` });
    await chmod(path, 0o755);
  }
  await symlink(home, join(workspace, "home-link"));
  await symlink("../outside", join(workspace, "outside-link"));
  await symlink("../outside/data.txt", join(workspace, "file-link"));
  await symlink("src/util.ts", join(workspace, "inner-link"));
  await symlink(".git", join(workspace, "git-link"));
  await symlink("../outside/missing", join(workspace, "dangling-link"));
  execFileSync("tar", ["-czf", "archive.tgz", "src"], { cwd: workspace });
  createRepository(home, workspace, canary);
}

async function plantFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

function createRepository(home: string, workspace: string, canary: string): void {
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: workspace,
      env: { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_NOSYSTEM: "1" },
      stdio: "ignore",
    });
  git("init", "-q", "-b", "main", "--template=");
  git("add", "a.txt", "b.txt", "src");
  git("commit", "-q", "-m", "first");
  git("branch", "feature");
  git("tag", "v1");
  git("remote", "add", "origin", join(canary, "..", "outside", "remote.git"));
}
