// Every entry point imports this first, so that an older Node reports its version instead of a missing
// built-in module. Node 24 is the first version with a stable `node:sqlite`.
const [major = 0] = process.versions.node.split(".").map(Number);

if (major < 24) {
  throw new Error(`@codexkit/store needs Node.js 24 or newer, but this is Node.js ${process.versions.node}.`);
}
