#!/usr/bin/env node
// Plain JavaScript that every Node version can parse: the program itself needs Node 24, and an older one would report
// a syntax error instead of the reason.
import { fileURLToPath } from "node:url";

const REQUIRED_MAJOR = 24;

/**
 * Settings of glibc, which it reads only when a program starts. Messages with files come from the heap, where the memory of
 * one is used again for the next: mapping each of them anew takes a third of the time of a write. One heap for all threads
 * leaves fewer gaps. The server returns the free end of the heap to the system when it is idle (see `trim-heap.ts`).
 */
const ALLOCATOR = {
  MALLOC_MMAP_THRESHOLD_: "16777216",
  MALLOC_TRIM_THRESHOLD_: "33554432",
  MALLOC_ARENA_MAX: "1",
};

/** Chunks of output are garbage as soon as they are sent: a larger young generation would only hold more of it. */
const NODE_FLAGS = ["--expose-gc", "--max-semi-space-size=8"];

/** Set when the program was started again with `ALLOCATOR`; `main` removes both from the environment of its children. */
const MARK = "CODEXKIT_EXEC_ALLOCATOR";

if (Number(process.versions.node.split(".")[0]) < REQUIRED_MAJOR) {
  fail(`needs Node ${REQUIRED_MAJOR} or newer, but this is Node ${process.versions.node}.`);
} else {
  if (canStartAgain()) startAgain();
  import("../dist/bin/main.js").catch((error) => {
    const isUnbuilt = error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes("dist/bin/main.js");
    fail(
      isUnbuilt ? "is not built in this checkout. Run `npm run build` first." : String(error.stack ?? error),
    );
  });
}

function canStartAgain() {
  const isSet = Object.keys(ALLOCATOR).some((name) => name in process.env);
  return process.platform === "linux" && typeof process.execve === "function" && !isSet;
}

/** Becomes the same program in the same process, with the settings that can't be changed later. */
function startAgain() {
  const flags = [...process.execArgv, ...NODE_FLAGS];
  const program = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  process.execve(process.execPath, [process.execPath, ...flags, ...program], {
    ...process.env,
    ...ALLOCATOR,
    [MARK]: Object.keys(ALLOCATOR).join(","),
  });
}

function fail(problem) {
  process.stderr.write(`codexkit-exec-server ${problem}\n`);
  process.exitCode = 1;
}
