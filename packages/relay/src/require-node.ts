// Every entry point imports this first, so that an older Node reports its version and not a missing built-in. Node 24 is
// the first one with ML-KEM in `node:crypto`.
const [major = 0] = process.versions.node.split(".").map(Number);

if (major < 24) {
  throw new Error(`@codexkit/relay needs Node.js 24 or newer, but this is Node.js ${process.versions.node}.`);
}
