/** What the npm package calls each platform's build, and the name of the target inside it. */
const TARGETS: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-unknown-linux-musl",
  "linux-arm64": "aarch64-unknown-linux-musl",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
  "win32-x64": "x86_64-pc-windows-msvc",
  "win32-arm64": "aarch64-pc-windows-msvc",
};

/** The build of `@openai/codex` for a platform. */
export interface CodexTarget {
  /** The npm package that holds it. */
  readonly packageName: string;
  /** Where the binary may be inside that package; old releases had it in another place. */
  readonly binaries: readonly (readonly string[])[];
}

/** Nothing when OpenAI builds none for it. */
export function codexTarget(platform: string, arch: string): CodexTarget | undefined {
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
