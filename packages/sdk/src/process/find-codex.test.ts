import { execFile } from "node:child_process";
import { chmod, mkdir, open, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { tempFolder } from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { CodexError } from "../errors.ts";
import { findCodex, findCodexIn } from "./find-codex.ts";
import type { Machine } from "./machine.ts";

interface FakeMachine {
  readonly platform?: string;
  readonly arch?: string;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly bases?: readonly string[];
  readonly files?: readonly string[];
  readonly others?: Record<string, "folder" | "not_executable">;
  /** By `request from base`. */
  readonly modules?: Record<string, string>;
}

function fakeMachine({
  platform = "linux",
  arch = "x64",
  env = {},
  files = [],
  ...rest
}: FakeMachine): Machine {
  return {
    platform,
    arch,
    env,
    cwd: rest.cwd ?? "/app",
    bases: rest.bases ?? ["/app/lib/find.js"],
    inspectPath: (path) => rest.others?.[path] ?? (files.includes(path) ? "executable" : "missing"),
    resolve: (request, from) => rest.modules?.[`${request} from ${from}`],
  };
}

function failure(machine: Machine, path?: string): CodexError {
  try {
    findCodexIn(machine, path);
  } catch (error) {
    if (error instanceof CodexError) return error;
    throw error;
  }
  throw new Error("it was found");
}

/** An installed package, with its platform package next to it. */
function installed(platform: string, target: string, file: string): FakeMachine {
  const [system = "", arch = ""] = platform.split("-");
  const windows = system === "win32";
  const root = windows ? "C:\\app\\node_modules\\@openai\\" : "/app/node_modules/@openai/";
  const [slash, base] = windows ? ["\\", "C:\\app\\lib\\find.js"] : ["/", "/app/lib/find.js"];
  return {
    platform: system,
    arch,
    bases: [base],
    modules: {
      [`@openai/codex/package.json from ${base}`]: `${root}codex${slash}package.json`,
      [`@openai/codex-${platform}/package.json from ${root}codex${slash}package.json`]: `${root}codex-${platform}${slash}package.json`,
    },
    files: [[`${root}codex-${platform}`, "vendor", target, "bin", file].join(slash)],
  };
}

describe("the search order", () => {
  const everywhere: FakeMachine = {
    ...installed("linux-x64", "x86_64-unknown-linux-musl", "codex"),
    env: { CODEX_BIN: "/env/codex", PATH: "/usr/bin" },
  };
  const files = [...(everywhere.files ?? []), "/env/codex", "/usr/bin/codex", "/opt/codex"];

  it("is the option, CODEX_BIN, the package, PATH", () => {
    expect(findCodexIn(fakeMachine({ ...everywhere, files }), "/opt/codex")).toEqual({
      path: "/opt/codex",
      source: "option",
    });
    expect(findCodexIn(fakeMachine({ ...everywhere, files }))).toEqual({ path: "/env/codex", source: "env" });
    const env = { PATH: "/usr/bin", CODEX_BIN: "" };
    expect(findCodexIn(fakeMachine({ ...everywhere, files, env }))).toMatchObject({ source: "package" });
    expect(findCodexIn(fakeMachine({ files, env }))).toEqual({ path: "/usr/bin/codex", source: "path" });
  });

  it("ends at an explicit path that is wrong", () => {
    expect(failure(fakeMachine({ ...everywhere, files }), "/nowhere/codex").message).toContain(
      "does not exist: /nowhere/codex",
    );
    const env = { CODEX_BIN: "/gone" };
    expect(failure(fakeMachine({ ...everywhere, files, env })).message).toContain("$CODEX_BIN names a file");
  });
});

describe("a named path", () => {
  it("is resolved against the working directory", () => {
    expect(findCodexIn(fakeMachine({ files: ["/app/tools/codex"] }), "tools/codex").path).toBe(
      "/app/tools/codex",
    );
    expect(findCodexIn(fakeMachine({ files: ["/app/codex"] }), "./codex").path).toBe("/app/codex");
  });

  it("without a folder is looked up on PATH, not in the working directory", () => {
    const files = ["/app/codex-nightly", "/usr/bin/codex-nightly"];
    const env = { PATH: "/bin:/usr/bin" };
    expect(findCodexIn(fakeMachine({ files, env }), "codex-nightly").path).toBe("/usr/bin/codex-nightly");
    expect(failure(fakeMachine({ files }), "codex-nightly").message).toContain("not on PATH");
  });

  it("is rejected if it is empty, a folder or not executable", () => {
    expect(failure(fakeMachine({}), " ").message).toContain("empty");
    const others = { "/a/folder": "folder", "/a/file": "not_executable" } as const;
    expect(failure(fakeMachine({ others }), "/a/folder").message).toContain("is a folder");
    expect(failure(fakeMachine({ others }), "/a/file").message).toContain("chmod +x /a/file");
    expect(failure(fakeMachine({ others }), "~/codex").message).toContain("only a shell expands ~");
  });
});

describe("the installed package", () => {
  it.each([
    ["linux-x64", "x86_64-unknown-linux-musl", "codex"],
    ["linux-arm64", "aarch64-unknown-linux-musl", "codex"],
    ["darwin-x64", "x86_64-apple-darwin", "codex"],
    ["darwin-arm64", "aarch64-apple-darwin", "codex"],
    ["win32-x64", "x86_64-pc-windows-msvc", "codex.exe"],
    ["win32-arm64", "aarch64-pc-windows-msvc", "codex.exe"],
  ])("resolves to the native binary on %s", (platform, target, file) => {
    const setup = installed(platform, target, file);
    expect(findCodexIn(fakeMachine(setup))).toEqual({ path: setup.files?.[0], source: "package" });
  });

  it("is found from the user's project if this file is elsewhere", () => {
    const setup = installed("linux-x64", "x86_64-unknown-linux-musl", "codex");
    const bases = ["/bundle/out.js", ...(setup.bases ?? [])];
    expect(findCodexIn(fakeMachine({ ...setup, bases })).source).toBe("package");
  });

  it("is found next to an Electron archive, inside which nothing can run", () => {
    const root = "/opt/App/app.asar/node_modules/@openai/";
    const binary = "codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
    const machine = fakeMachine({
      modules: {
        "@openai/codex/package.json from /app/lib/find.js": `${root}codex/package.json`,
        [`@openai/codex-linux-x64/package.json from ${root}codex/package.json`]: `${root}codex-linux-x64/package.json`,
      },
      files: [root + binary, root.replace("app.asar", "app.asar.unpacked") + binary],
    });
    expect(findCodexIn(machine).path).toBe(`/opt/App/app.asar.unpacked/node_modules/@openai/${binary}`);
  });

  it("without its platform package is distinguished from a missing package", () => {
    const modules = {
      "@openai/codex/package.json from /app/lib/find.js": "/app/node_modules/@openai/codex/package.json",
    };
    expect(failure(fakeMachine({ modules })).message).toContain(
      "optional dependency @openai/codex-linux-x64",
    );
  });
});

describe("PATH", () => {
  it("skips files that can't be run and entries for the working directory", () => {
    const env = { PATH: ":.:bin:/a:/b" };
    const others = { "/a/codex": "not_executable" } as const;
    expect(findCodexIn(fakeMachine({ env, others, files: ["codex", "bin/codex", "/b/codex"] })).path).toBe(
      "/b/codex",
    );
  });

  it("uses PATHEXT and any spelling of the variable on Windows", () => {
    const env = { Path: String.raw`C:\one;"C:\two words"`, PathExt: ".EXE;.CMD" };
    const windows = { platform: "win32", env, cwd: "C:\\" };
    const inTwo = String.raw`C:\two words\codex.cmd`;
    expect(findCodexIn(fakeMachine({ ...windows, files: [String.raw`C:\one\codex`, inTwo] })).path).toBe(
      inTwo,
    );
    const exe = String.raw`C:\two words\codex.exe`;
    expect(findCodexIn(fakeMachine({ ...windows, files: [inTwo, exe] })).path).toBe(exe);
  });

  it("resolves npm's codex.cmd to its binary on Windows", () => {
    const npm = String.raw`C:\Users\me\AppData\Roaming\npm`;
    const inside = String.raw`${npm}\node_modules\@openai\codex`;
    const binary = String.raw`${inside}\node_modules\@openai\codex-win32-x64\vendor\x86_64-pc-windows-msvc\bin\codex.exe`;
    const machine = fakeMachine({
      platform: "win32",
      env: { PATH: npm },
      bases: [],
      files: [String.raw`${npm}\codex.cmd`, binary],
      modules: {
        [String.raw`@openai/codex/package.json from ${npm}\codex.cmd`]: String.raw`${inside}\package.json`,
        [String.raw`@openai/codex-win32-x64/package.json from ${inside}\package.json`]: String.raw`${inside}\node_modules\@openai\codex-win32-x64\package.json`,
      },
    });
    expect(findCodexIn(machine)).toEqual({ path: binary, source: "path" });
  });
});

describe("if codex is not found", () => {
  it("the error lists all locations and what to do", () => {
    const error = failure(
      fakeMachine({ env: { PATH: "/bin:/usr/bin" }, bases: ["/app/lib/find.js", "/work/package.json"] }),
    );
    expect(error.code).toBe("codex_not_found");
    for (const part of ["npm install @openai/codex", "CODEX_BIN", "/app/lib", "/work", "/bin:/usr/bin"]) {
      expect(error.message).toContain(part);
    }
  });

  it("the error names a platform without a build", () => {
    expect(failure(fakeMachine({ platform: "sunos", arch: "sparc" })).message).toContain(
      "no build for sunos sparc",
    );
  });
});

describe("on this machine", () => {
  it("finds the pinned package's native binary", async () => {
    const found = findCodex({ env: { PATH: "" } });
    expect(found).toMatchObject({
      source: "package",
      path: expect.stringMatching(/vendor.+bin.codex/) as string,
    });
    // The binary, not the script that starts it.
    await using file = await open(found.path);
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    expect(buffer.toString()).not.toBe("#!");
  });

  it("follows links and rejects a file that is not executable", async () => {
    await using folder = await tempFolder();
    const link = join(folder.path, "codex link");
    await symlink(findCodex({ env: { PATH: "" } }).path, link);
    expect(findCodex({ path: link })).toEqual({ path: link, source: "option" });
    const dead = join(folder.path, "dead");
    await symlink("/nowhere", dead);
    expect(() => findCodex({ path: dead })).toThrow("does not exist");
    const plain = join(folder.path, "plain");
    await writeFile(plain, "#!/bin/sh\n");
    await chmod(plain, 0o644);
    expect(() => findCodex({ env: { CODEX_BIN: plain } })).toThrow("not executable");
    await mkdir(join(folder.path, "codex"));
    expect(() => findCodex({ path: join(folder.path, "codex") })).toThrow("is a folder");
  });
});

it("searches the working directory only for a program that is inside it", async () => {
  await using folder = await tempFolder("find-codex");
  const [own, other] = [join(folder.path, "own"), join(folder.path, "other")];
  await Promise.all([mkdir(own), mkdir(other)]);
  const program = `
    import { localMachine } from ${JSON.stringify(new URL("machine.ts", import.meta.url).href)};
    console.log(localMachine().bases.includes(process.cwd() + "/package.json"));`;
  await writeFile(join(own, "program.mjs"), program);
  const isSearched = async (cwd: string): Promise<string> => {
    const args = ["--conditions=codexkit:source", join(own, "program.mjs")];
    return (await promisify(execFile)(process.execPath, args, { cwd })).stdout.trim();
  };
  expect(await Promise.all([isSearched(own), isSearched(other)])).toEqual(["true", "false"]);
});
