#!/usr/bin/env node
// Plain JavaScript that every Node version can parse: the program itself needs Node 24, and an older one would report
// a syntax error instead of the reason.
const REQUIRED_MAJOR = 24;

if (Number(process.versions.node.split(".")[0]) < REQUIRED_MAJOR) {
  fail(`needs Node ${REQUIRED_MAJOR} or newer, but this is Node ${process.versions.node}.`);
} else {
  import("../dist/bin/main.js").catch((error) => {
    const isUnbuilt = error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes("dist/bin/main.js");
    fail(
      isUnbuilt ? "is not built in this checkout. Run `npm run build` first." : String(error.stack ?? error),
    );
  });
}

function fail(problem) {
  process.stderr.write(`codexkit-relay ${problem}\n`);
  process.exitCode = 1;
}
