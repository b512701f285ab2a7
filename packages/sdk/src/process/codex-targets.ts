/** Target triples by the platform name in the npm packages. */
const TARGETS: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-unknown-linux-musl",
  "linux-arm64": "aarch64-unknown-linux-musl",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
  "win32-x64": "x86_64-pc-windows-msvc",
  "win32-arm64": "aarch64-pc-windows-msvc",
};

/** A platform's build of `@openai/codex`. */
export interface CodexTarget {
  /** The npm package that contains it. */
  readonly packageName: string;
  /** Possible paths of the binary inside the package. Old releases used another one. */
  readonly binaries: readonly (readonly string[])[];
}

/** Returns the build for a platform. Undefined if OpenAI publishes none. */
export function findCodexTarget(platform: string, arch: string): CodexTarget | undefined {
  // Termux runs the static Linux build.
  const name = `${platform === "android" ? "linux" : platform}-${arch}`;
  const target = TARGETS[name];
  if (target === undefined) return undefined;
  const file = platform === "win32" ? "codex.exe" : "codex";
  return {
    packageName: `@openai/codex-${name}`,
    binaries: [
      ["vendor", target, "bin", file],
      ["vendor", target, "codex", file],
    ],
  };
}
