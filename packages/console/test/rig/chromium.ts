import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium, type LaunchOptions } from "playwright-core";

const require = createRequire(import.meta.url);
const root = join(import.meta.dirname, "../../../..");
const cache = join(root, "node_modules/.cache");

/** It unpacks into the temporary folder of its process, with names that every version shares. */
const UNPACK = `
  const { default: chromium } = await import("@sparticuz/chromium");
  await chromium.executablePath();
`;

/**
 * Flags for a browser without a screen. The package's own list is not used: it would switch off the same-origin policy, which
 * the tests rely on.
 */
const FLAGS = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-domain-reliability",
  "--no-pings",
  "--font-render-hinting=none",
  "--disable-lcd-text",
  "--force-color-profile=srgb",
  "--enable-precise-memory-info",
];

/** The browser's program: `CHROMIUM`, or that of the npm package, which is unpacked once. */
export async function findChromium(): Promise<string> {
  const given = process.env["CHROMIUM"];
  if (given) return given;
  const { version } = JSON.parse(await readFile(packageFile(), "utf8")) as { version: string };
  const folder = join(cache, `chromium-${version}`);
  const program = join(folder, "chromium");
  if (existsSync(program)) return program;
  await mkdir(cache, { recursive: true });
  const staging = await mkdtemp(join(cache, "chromium-unpacking-"));
  try {
    await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", UNPACK], {
      cwd: import.meta.dirname,
      env: { ...process.env, TMPDIR: staging },
    });
    await rename(staging, folder).catch((error: unknown) => {
      // Another worker was faster.
      if (!existsSync(program)) throw error;
    });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return program;
}

/** The package does not export it. */
function packageFile(): string {
  return join(require.resolve("@sparticuz/chromium"), "../../package.json");
}

export async function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  const executablePath = await findChromium();
  const fonts = join(executablePath, "../fonts");
  // A browser that is killed, or ends in the middle of its start, leaves files in its temporary folder.
  const temp = await mkdtemp(join(tmpdir(), "codexkit-chromium-"));
  const remove = (): void => rmSync(temp, { recursive: true, force: true });
  const options: LaunchOptions = {
    executablePath,
    args: [...FLAGS, ...flags],
    env: {
      ...environment(),
      TMPDIR: temp,
      // Machines without fonts would draw nothing.
      ...(!existsSync("/etc/fonts/fonts.conf") && existsSync(fonts) && { FONTCONFIG_PATH: fonts }),
    },
  };
  try {
    const browser = await chromium.launch(options);
    browser.once("disconnected", remove);
    return browser;
  } catch (error) {
    remove();
    throw error;
  }
}

function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
