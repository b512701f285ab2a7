import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryFolder } from "../memory-folder.ts";
import { startLocalRegistry } from "./local-registry.ts";
import { type PackedPackage, packAll } from "./pack.ts";
import { publishedPackages, root } from "./published-packages.ts";
import { runNpm } from "./run-command.ts";

/** Two projects outside the repository into which npm installed the packed packages. */
export interface ConsumerProjects extends AsyncDisposable {
  readonly packed: ReadonlyMap<string, PackedPackage>;
  /** Has every package, and a different zod version than the repository. */
  readonly full: string;
  /** Has the SDK and the provider on the oldest zod, installed with `--omit=optional`. */
  readonly minimal: string;
}

/** The zod version of the full project, which differs from the one that the packages were built with. */
const OTHER_ZOD = "4.6.6";
const OLDEST_ZOD = "4.0.0";

export async function createConsumerProjects(): Promise<ConsumerProjects> {
  await using made = new AsyncDisposableStack();
  // An installation is thousands of small files.
  const path = mkdtempSync(join(memoryFolder() ?? tmpdir(), "consumer-"));
  made.defer(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  const [tarballs, full, minimal] = ["tarballs", "full", "minimal"].map((name) => join(path, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [tarballs, full, minimal]) mkdirSync(folder);
  const packed = await packAll(tarballs);
  {
    await using registry = await startLocalRegistry(
      Object.fromEntries(
        publishedPackages.map(({ folder, manifest }) => [folder, packed.get(manifest.name)?.tarball ?? ""]),
      ),
    );
    const names = publishedPackages.map(({ manifest }) => manifest.name);
    const install = async (project: string, args: readonly string[]): Promise<void> => {
      writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }\n');
      writeFileSync(join(project, ".npmrc"), `registry=${registry.url}/\ncache=${join(path, "cache")}\n`);
      await runNpm(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", ...args], {
        cwd: project,
        env: npmEnvironment(path),
      });
    };
    await install(full, [...names, `zod@${OTHER_ZOD}`, "@types/node", "ai", "@ai-sdk/harness"]);
    await install(minimal, [
      "--omit=optional",
      "codexkit",
      "@codexkit/provider",
      "@codexkit/scripted-model",
      `zod@${OLDEST_ZOD}`,
      "@types/node",
    ]);
  }
  linkPlatformCodex(full);
  for (const project of [full, minimal])
    cpSync(join(import.meta.dirname, "consumer"), project, { recursive: true });
  const owner = made.move();
  return { packed, full, minimal, [Symbol.asyncDispose]: async () => owner.disposeAsync() };
}

/** The settings of the npm that runs the tests, and of the user, must not reach a consumer's npm. */
function npmEnvironment(folder: string): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_(?:config|package)_/i.test(name));
  return {
    ...Object.fromEntries(inherited),
    npm_config_userconfig: join(folder, "no-npmrc"),
    TMPDIR: tmpdir(),
  };
}

/** The registry omits Codex's platform package because of its size; the installed one is linked instead. */
function linkPlatformCodex(project: string): void {
  const installed = join(root, "node_modules/@openai");
  const platformPackages = readdirSync(installed).filter((name) =>
    /^codex-(?:linux|darwin|win32)-/.test(name),
  );
  for (const name of platformPackages) {
    symlinkSync(join(installed, name), join(project, "node_modules/@openai", name), "junction");
  }
}
