#!/usr/bin/env node
// Plain JavaScript that every Node version can parse: the program itself needs Node 24, and an older one would report
// a syntax error instead of the reason. Without `import`, which loads more of `node:fs` than is used.
const REQUIRED_MAJOR = 24;
const [first, ...others] = process.argv.slice(2);

if (Number(process.versions.node.split(".")[0]) < REQUIRED_MAJOR) {
  fail(`needs Node.js ${REQUIRED_MAJOR} or newer, but this is Node.js ${process.versions.node}.`);
} else if ((first === "--version" || first === "-V") && others.length === 0) {
  // Answered here, because it is what scripts ask most often, and loading the program doubles the time.
  const packageFile = new URL("../package.json", import.meta.url);
  const { version } = JSON.parse(process.getBuiltinModule("node:fs").readFileSync(packageFile, "utf8"));
  process.stdout.on("error", ({ code }) => fail(`can't write its output (${code}).`));
  process.stdout.write(`${version}\n`);
} else {
  process.getBuiltinModule("node:module").enableCompileCache();
  import("../dist/main.js").catch((error) => {
    const isUnbuilt = error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes("dist/main.js");
    fail(
      isUnbuilt ? "is not built in this checkout. Run `npm run build` first." : String(error.stack ?? error),
    );
  });
}

function fail(problem) {
  process.stderr.write(`codexkit ${problem}\n`);
  process.exitCode = 1;
}
