import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** What the npm package calls each platform's build, and the name of the target inside it. */
const TARGETS: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-unknown-linux-musl",
  "linux-arm64": "aarch64-unknown-linux-musl",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
  "win32-x64": "x86_64-pc-windows-msvc",
  "win32-arm64": "aarch64-pc-windows-msvc",
};

/** The native binary of the pinned `@openai/codex`: the wrapper script would cost a process and 15 ms a start. */
export function codexBinary(): string {
  const platform = `${process.platform}-${process.arch}`;
  const target = TARGETS[platform];
  if (target === undefined) throw new Error(`@openai/codex has no build for ${platform}`);
  const fromHere = createRequire(import.meta.url);
  const fromCodex = createRequire(fromHere.resolve("@openai/codex/package.json"));
  const build = dirname(fromCodex.resolve(`@openai/codex-${platform}/package.json`));
  const file = process.platform === "win32" ? "codex.exe" : "codex";
  return join(build, "vendor", target, "bin", file);
}
