// Tests the packed builds, which must install, compile, run and bundle outside this repository. All other tests run the sources.
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { build as esbuild } from "esbuild";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { build as vite } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsumerProjects, createConsumerProjects } from "./consumer-project.ts";
import { publishedPackages, root } from "./published-packages.ts";
import { type Finished, runCommand } from "./run-command.ts";

const executable = process.platform === "win32" ? "node.exe" : "node";
const nodes = {
  22: join(root, "test/published/node_modules/node/bin", executable),
  24: join(root, "node_modules/node/bin", executable),
};
const nodeVersions = [22, 24] as const;
const compilers = {
  "5.6": join(root, "test/typescript-5.6/node_modules/typescript/bin/tsc"),
  "5.9": join(root, "test/typescript-5.9/node_modules/typescript/bin/tsc"),
  "7": join(root, "node_modules/typescript/bin/tsc"),
};

/** The tests compile and start programs, and some take a minute on a busy machine. */
const TIMEOUT_MS = 240_000;

let projects: ConsumerProjects;

beforeAll(async () => {
  projects = await createConsumerProjects();
}, TIMEOUT_MS);

afterAll(async () => {
  await projects[Symbol.asyncDispose]();
});

/** Runs a program in a consumer, without the variables of the test runner. */
async function runNode(
  version: (typeof nodeVersions)[number],
  args: readonly string[],
  { cwd = projects.full, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Finished> {
  return runCommand(nodes[version], args, { cwd, env: { ...process.env, NODE_OPTIONS: "", ...env } });
}

function entryPointsFor(version: (typeof nodeVersions)[number]): string[] {
  return publishedPackages
    .filter(({ oldestNode }) => Number.parseInt(oldestNode, 10) <= version)
    .flatMap(({ entryPoints }) => entryPoints);
}

const published = publishedPackages.map((each) => [each.manifest.name, each] as const);

describe.each(published)("%s", (name, { manifest, entryPoints }) => {
  it("contains the files and manifest fields that npm users need", () => {
    const { files } = projects.packed.get(name) ?? { files: [] };

    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
    expect(files.filter((file) => /\.(?:test|soak)\.|tsbuildinfo/.test(file))).toEqual([]);
    expect(Object.keys(manifest)).toEqual(
      expect.arrayContaining([
        "bugs",
        "engines",
        "files",
        "homepage",
        "keywords",
        "license",
        "repository",
        "sideEffects",
      ]),
    );
    const ranges = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies });
    expect(ranges.filter(([, range]) => !range.startsWith("^"))).toEqual([]);
  });

  it("passes publint", async () => {
    const { tarball = "" } = projects.packed.get(name) ?? {};
    const bytes = new Uint8Array(readFileSync(tarball));
    const { messages } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
    expect(messages).toEqual([]);
  });

  // The command line has no entry points.
  if (entryPoints.length === 0) return;

  it("has types that resolve", { timeout: TIMEOUT_MS }, async () => {
    const { tarball = "" } = projects.packed.get(name) ?? {};
    const result = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
    // ESM only: require() of an ES module works on every supported Node. Subpaths need `exports`, which node10 lacks.
    const problems = result.types
      ? result.problems.filter(
          (problem) =>
            problem.kind !== "CJSResolvesToESM" &&
            !("resolutionKind" in problem && problem.resolutionKind === "node10"),
        )
      : ["no types"];
    expect(problems).toEqual([]);
  });
});

// The protocol's types and tables run on any version, two entry points run in browsers, and the console is a folder of files.
const anywhere = [
  "@codexkit/protocol",
  "@codexkit/approvals/shell",
  "@codexkit/daemon/client",
  "@codexkit/console",
];

it("every entry point reports the required version when Node is too old", async () => {
  const versioned = publishedPackages.flatMap(({ manifest, entryPoints, oldestNode }) =>
    entryPoints
      .filter((entryPoint) => !anywhere.some((free) => entryPoint.startsWith(free)))
      .map((entryPoint) => ({ entryPoint, name: manifest.name, oldestNode })),
  );
  // One process imports all of them: each entry point checks the version before it imports another package.
  const program = `
    Object.defineProperty(process.versions, "node", { value: "20.11.1" });
    const messages = {};
    for (const entryPoint of ${JSON.stringify(versioned.map(({ entryPoint }) => entryPoint))}) {
      messages[entryPoint] = await import(entryPoint).then(() => "imported", (error) => error.message);
    }
    console.log(JSON.stringify(messages));
  `;

  const { stdout } = await runNode(24, ["--input-type=module", "--eval", program]);

  expect(versioned.length).toBeGreaterThan(publishedPackages.length);
  const expected = versioned.map(({ entryPoint, name, oldestNode }) => [
    entryPoint,
    expect.stringContaining(
      `${name} needs Node.js ${oldestNode} or newer, but this is Node.js 20.11.1.`,
    ) as string,
  ]);
  expect(JSON.parse(stdout)).toEqual(Object.fromEntries(expected));
});

describe("the exec-server", () => {
  it("rejects Node 22 with its version, as a module and as a program", async () => {
    const asModule = await runNode(22, [
      "--input-type=module",
      "--eval",
      'await import("@codexkit/exec-server")',
    ]);
    const bin = join(projects.full, "node_modules/@codexkit/exec-server/bin/codexkit-exec-server.mjs");
    const asProgram = await runNode(22, [bin]);

    expect(asModule.stderr).toMatch(/needs Node\.js 24 or newer, but this is Node\.js 22\./);
    expect(asProgram.stderr).toMatch(/needs Node 24 or newer, but this is Node 22\./);
    expect([asModule.status, asProgram.status]).toEqual([1, 1]);
  });
});

describe("an installation", () => {
  it("includes Codex with the SDK, unless optional dependencies are omitted", () => {
    expect(existsSync(join(projects.full, "node_modules/@openai/codex/package.json"))).toBe(true);
    expect(existsSync(join(projects.minimal, "node_modules/@openai"))).toBe(false);
  });

  it("has one Codex release: that of the protocol's types", () => {
    const releases = publishedPackages.flatMap(({ manifest }) =>
      [manifest.optionalDependencies, manifest.devDependencies].flatMap(
        (dependencies) => dependencies?.["@openai/codex"] ?? [],
      ),
    );
    expect(releases).toHaveLength(3);
    expect(new Set(releases).size).toBe(1);
  });

  it("has one zod: the user's own", () => {
    for (const project of [projects.full, projects.minimal]) {
      const copies = readdirSync(join(project, "node_modules"), { recursive: true, encoding: "utf8" }).filter(
        (path) => /(?:^|node_modules[\\/])zod[\\/]package\.json$/.test(path),
      );
      expect(copies).toEqual([join("zod", "package.json")]);
    }
  });

  it("explains how to install Codex if it was omitted", async () => {
    const program = 'import { Codex } from "codexkit"; await Codex.launch();';
    const { status, stderr } = await runNode(22, ["--input-type=module", "--eval", program], {
      cwd: projects.minimal,
      env: { PATH: "", CODEX_BIN: "" },
    });

    expect(status).toBe(1);
    expect(stderr).toMatch(/codex_not_found/);
    expect(stderr).toMatch(/npm install @openai\/codex/);
  });
});

const modes = {
  nodenext: { module: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};

interface Compilation {
  readonly project: string;
  readonly version: keyof typeof compilers;
  readonly mode: keyof typeof modes;
  readonly lib: readonly string[];
  /** Checks only the consumer's own code, with the declarations that it imports. Default: false. */
  readonly skipLibCheck?: boolean;
}

/** Compiles a consumer with its declarations, and returns the compiler's output. */
async function compile({ project, version, mode, lib, skipLibCheck = false }: Compilation): Promise<string> {
  const config = `tsconfig.${version}.${mode}.json`;
  const compilerOptions = {
    ...modes[mode],
    target: "es2022",
    lib,
    strict: true,
    skipLibCheck,
    noEmit: true,
    types: ["node"],
  };
  const files = ["types.ts", "entry-points.ts"];
  writeFileSync(join(project, config), JSON.stringify({ compilerOptions, files }));
  const args = [compilers[version], "-p", config];
  const { stdout, stderr } = await runCommand(nodes[24], args, { cwd: project });
  return stdout + stderr;
}

describe("the compiler", { timeout: TIMEOUT_MS }, () => {
  it.each(["5.6", "5.9", "7"] as const)("TypeScript %s accepts every declaration", async (version) => {
    // The declarations of the AI SDK and of hono need TypeScript 5.7, and those of the AI SDK also need the DOM types. The other
    // packages need neither.
    const isOldest = version === "5.6";
    const tooNew = (entry: string): boolean =>
      entry.startsWith("@codexkit/ai-sdk") || entry === "@codexkit/daemon";
    const entryPoints = entryPointsFor(24).filter((entry) => !isOldest || !tooNew(entry));
    const lib = isOldest ? ["es2023"] : ["es2023", "dom"];
    const project = projects.full;
    writeFileSync(join(project, "entry-points.ts"), importAll(entryPoints));

    const printed = await Promise.all([
      compile({ project, version, lib, mode: "nodenext" }),
      // Both modes read the same declarations, which take a compiler written in JavaScript 10 s to check.
      compile({ project, version, lib, mode: "bundler", skipLibCheck: version !== "7" }),
    ]);

    expect(printed).toEqual(["", ""]);
  });

  it("accepts the oldest zod", async () => {
    const project = projects.minimal;
    writeFileSync(join(project, "entry-points.ts"), importAll(["codexkit", "@codexkit/provider"]));

    await expect(compile({ project, version: "7", lib: ["es2023"], mode: "nodenext" })).resolves.toBe("");
  });
});

function importAll(entryPoints: readonly string[]): string {
  const lines = entryPoints.map(
    (entry, index) => `export * as entry${index} from ${JSON.stringify(entry)};\n`,
  );
  return lines.join("");
}

describe.each(nodeVersions)("Node %s", { timeout: TIMEOUT_MS }, (version) => {
  it("imports and requires every entry point", async () => {
    const entryPoints = JSON.stringify(entryPointsFor(version));
    const imports = `for (const entry of ${entryPoints}) console.log(entry, Object.keys(await import(entry)).length > 0)`;
    const requires = `for (const entry of ${entryPoints}) console.log(entry, Object.keys(require(entry)).length > 0)`;
    const expected = entryPointsFor(version).map((entry) => `${entry} true\n`);

    const esm = await runNode(version, ["--input-type=module", "--eval", imports]);
    const cjs = await runNode(version, ["--input-type=commonjs", "--eval", requires]);

    expect(esm).toMatchObject({ status: 0, stdout: expected.join("") });
    expect(cjs).toMatchObject({ status: 0, stdout: expected.join("") });
  });

  it("runs a turn of the real codex, with a tool and structured output", async () => {
    expectTurn(version, await runNode(version, ["turn.mjs"]));
  });

  it("runs the same turn on the oldest zod", async () => {
    // The binary of the other project: this one was installed without Codex.
    const found = await runNode(24, [
      "--input-type=module",
      "--eval",
      'import { findCodex } from "codexkit/process"; process.stdout.write(findCodex().path)',
    ]);
    expectTurn(
      version,
      await runNode(version, ["turn.mjs"], { cwd: projects.minimal, env: { CODEX_BIN: found.stdout } }),
    );
  });
});

/** The banner of docs/guides/troubleshooting.md. `ws` is CommonJS and calls `require`, which is undefined in an ES module. */
const REQUIRE_BANNER =
  'import { createRequire as nodeRequire } from "node:module"; const require = nodeRequire(import.meta.url);';

describe("a bundle", { timeout: TIMEOUT_MS }, () => {
  async function bundleWithEsbuild(name: string, banner: string): Promise<string> {
    const outfile = join(projects.full, name);
    const { warnings } = await esbuild({
      absWorkingDir: projects.full,
      entryPoints: ["turn.mjs"],
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node22",
      outfile,
      logLevel: "silent",
      banner: { js: banner },
    });
    expect(warnings).toEqual([]);
    return outfile;
  }

  it("by esbuild runs the same turn over pipes", async () => {
    expectTurn(22, await runNode(22, [await bundleWithEsbuild("pipes.mjs", "")]));
  });

  it("by esbuild runs the same turn over a WebSocket, with the documented banner", async () => {
    const guide = readFileSync(join(root, "docs/guides/troubleshooting.md"), "utf8");
    expect(guide).toContain(REQUIRE_BANNER);
    const outfile = await bundleWithEsbuild("websocket.mjs", REQUIRE_BANNER);
    expectTurn(22, await runNode(22, [outfile], { env: { LISTEN: "ws://127.0.0.1:0" } }));
  });

  it("by esbuild keeps the Node version check", async () => {
    const outfile = await bundleWithEsbuild("check.mjs", "");
    expect(readFileSync(outfile, "utf8")).toContain("codexkit needs Node.js 22.12 or newer");
  });

  it("by vite runs the same turn", async () => {
    await vite({
      root: projects.full,
      configFile: false,
      logLevel: "error",
      ssr: { noExternal: true, target: "node" },
      build: { ssr: "turn.mjs", outDir: "vite", target: "node22", minify: false },
    });
    const file = readdirSync(join(projects.full, "vite")).find((name) => name.startsWith("turn."));
    expectTurn(22, await runNode(22, [join("vite", file ?? "")]));
  });
});

function expectTurn(version: number, { status, stdout, stderr }: Finished): void {
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const printed = JSON.parse(stdout) as { node: string };
  expect(printed).toMatchObject({
    measured: [{ width: 2, unit: "cm" }],
    structured: { millimetres: 20 },
  });
  expect(printed.node.split(".")[0]).toBe(String(version));
}
