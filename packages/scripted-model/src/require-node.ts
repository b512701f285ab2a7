// Every entry point imports this first, so that an older Node reports its version instead of a missing built-in.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 12)) {
  throw new Error(
    `@codexkit/scripted-model needs Node.js 22.12 or newer, but this is Node.js ${process.versions.node}.`,
  );
}
