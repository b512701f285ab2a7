// Bundles the packages that programs load at startup into a few files each, because Node spends about a millisecond per file.
// `tsc` writes their types.
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isAbsolute, join, posix, resolve } from "node:path";
import { type Plugin, rolldown } from "rolldown";

interface BundledPackage {
  readonly folder: string;
  /** Programs that the package starts by path, in addition to the entry points in its package.json. */
  readonly programs?: readonly string[];
  /** Dependencies that are inlined into the bundle. */
  readonly inlined?: readonly string[];
  /** Folder for the code that several entry points share. Default: the root of `dist`. */
  readonly sharedFolder?: string;
  /**
   * Modules that are each bundled with their static dependencies into one file, instead of one file per set of commands that
   * share them. A dependency of several modules goes into the file of the first.
   */
  readonly files?: Readonly<Record<string, RegExp>>;
  /** Whether to skip the unused parts of Node's built-in modules; see `partialBuiltins`. */
  readonly partialBuiltins?: boolean;
  /** Whether to remove files that only re-export from another file; see `joinImports`. */
  readonly joinsImports?: boolean;
}

const PACKAGES: readonly BundledPackage[] = [
  { folder: "rpc" },
  // `launch-keeper.ts` is shared code and looks for its program in its own folder.
  { folder: "sdk", programs: ["src/process/keeper-program.ts"], sharedFolder: "process" },
  { folder: "ai-sdk" },
  {
    folder: "cli",
    // Commands are loaded on demand, so each becomes a separate file.
    programs: ["src/main.ts"],
    // The dependencies that `run` loads, which would otherwise be 120 files. zod alone has 95.
    inlined: [
      "@codexkit/protocol",
      "@codexkit/rpc",
      "codexkit",
      "commander",
      "fast-string-truncated-width",
      "fast-string-width",
      "fast-wrap-ansi",
      "zod",
    ],
    // In the order in which `run` loads them. zod schemas are needed only for server requests.
    files: {
      "zod-base": /\/zod\/v4\/core\/(errors|json-schema-processors)\.js$/,
      "zod-schemas": /\/zod\/v4\/(classic\/schemas|core\/schemas)\.js$/,
      launch: /\/cli\/src\/codex\/early-codex\.ts$/,
      "run-cli": /\/cli\/src\/run-cli\.ts$/,
      sdk: /\/sdk\/dist\/process\/(codex|child-transport)-[^/]+\.js$/,
      run: /\/cli\/src\/run\/run-task\.ts$/,
    },
    partialBuiltins: true,
    joinsImports: true,
  },
];

/** Matches the only statements of a file that re-exports from another file. */
const FORWARDING =
  /^(?:import "\.\/rolldown-runtime-[^"]+";\n)?import \{ (?<names>[^}]+) \} from "\.\/(?<file>[^"]+)";\n\nexport \{ (?<exported>[^}]+) \};\s*(?:\/\/# .*)?$/;

for (const bundled of PACKAGES) {
  const { folder, programs = [], inlined = [], sharedFolder = ".", files = {} } = bundled;
  const root = resolve(import.meta.dirname, "../packages", folder);
  // The check of the Node version is a separate file, so that entry points load it before anything else. Programs without
  // entry points check it in their `bin` file.
  const check = ["src/require-node.ts"].filter((source) => existsSync(join(root, source)));
  const sources = [...check, ...entryPoints(root), ...programs];
  const bundle = await rolldown({
    input: Object.fromEntries(sources.map((source) => [entryName(source), join(root, source)])),
    platform: "node",
    plugins: bundled.partialBuiltins ? [partialBuiltins()] : [],
    // The target of `tsc` for the other packages. Node 22 does not support `using`.
    transform: { target: "es2024" },
    external: (id) =>
      !/^[.\0]/.test(id) &&
      !(bundled.partialBuiltins && id.startsWith("node:")) &&
      !isAbsolute(id) &&
      ![...inlined, "@oxc-project/runtime"].some((name) => id === name || id.startsWith(`${name}/`)),
    onLog(level, log, report) {
      if (level === "warn") throw new Error(`${folder}: ${log.message}`);
      report(level, log);
    },
  });
  const dist = join(root, "dist");
  removeScripts(dist);
  await bundle.write({
    dir: dist,
    format: "esm",
    sourcemap: true,
    entryFileNames: "[name].js",
    chunkFileNames: posix.join(sharedFolder, "[name]-[hash].js"),
    codeSplitting: {
      groups: Object.entries(files)
        .toReversed()
        .map(([name, test], priority) => ({ name, test, priority })),
    },
    // The type declarations have the documentation.
    comments: { jsdoc: false },
    // Stack traces show the names of the sources.
    minify: false,
  });
  await bundle.close();
  if (bundled.joinsImports) joinImports(dist);
}

/**
 * Replaces imports of Node's built-in modules with constants. An `import` evaluates every member of the module, and those of
 * `node:fs` and `node:util` load a dozen more internal modules: 7 ms of a program that takes 100.
 */
function partialBuiltins(): Plugin {
  const prefix = "\0builtin:";
  return {
    name: "partial-builtins",
    resolveId: (id, importer) => {
      if (!id.startsWith("node:")) return undefined;
      // Every file imports the bundler's runtime, which must not import these replacements.
      if (importer?.startsWith("\0rolldown/")) return { id, external: true };
      return { id: `${prefix}${id}`, moduleSideEffects: false };
    },
    async load(id) {
      if (!id.startsWith(prefix)) return undefined;
      const name = id.slice(prefix.length);
      const members = Object.keys((await import(name)) as object).filter((member) => member !== "default");
      return [
        `const builtin = process.getBuiltinModule(${JSON.stringify(name)});`,
        "export default builtin;",
        ...members.map((member) => `export const ${member} = /* @__PURE__ */ (() => builtin.${member})();`),
      ].join("\n");
    },
  };
}

/**
 * Imports a shared file directly where the bundler goes through a file that only re-exports from it, because Node spends about a
 * millisecond per file. Also removes imports of the bundler's runtime from files that don't use it.
 */
function joinImports(dist: string): void {
  const files = new Map(
    globSync("*.js", { cwd: dist }).map((name) => [name, readFileSync(join(dist, name), "utf8")]),
  );
  const replacements = new Map<string, string>();
  for (const [name, source] of files) {
    const { names, file, exported } = FORWARDING.exec(source)?.groups ?? {};
    if (names === undefined || exported === undefined) continue;
    const aliases = new Map(
      names.split(", ").map((pair) => pair.split(" as ").toReversed() as [string, string]),
    );
    const members = exported.split(", ").map((local) => `${local}: shared.${aliases.get(local) ?? local}`);
    replacements.set(
      `import("./${name}")`,
      `import("./${file}").then((shared) => ({ ${members.join(", ")} }))`,
    );
    rmSync(join(dist, name));
    rmSync(join(dist, `${name}.map`), { force: true });
    files.delete(name);
  }
  for (const [name, source] of files) {
    let joined = source.replaceAll(/^import "(?:\.\/rolldown-runtime-[^"]+|node:module)";\n/gm, "");
    for (const [from, to] of replacements) joined = joined.replaceAll(from, to);
    if (joined !== source) writeFileSync(join(dist, name), joined);
  }
}

function entryPoints(root: string): string[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly "codexkit:source": string }>>;
  };
  return Object.values(exports).flatMap((entry) =>
    typeof entry === "string" ? [] : [entry["codexkit:source"]],
  );
}

/** `src/process/index.ts` becomes `process/index`, where `tsc` puts its types. */
function entryName(source: string): string {
  return source.replace(/^(\.\/)?src\//, "").replace(/\.ts$/, "");
}

/** Removes the files of an earlier build, because the names of shared files change with their content. */
function removeScripts(dist: string): void {
  for (const name of globSync("**/*.{js,js.map}", { cwd: dist })) rmSync(join(dist, name));
}
