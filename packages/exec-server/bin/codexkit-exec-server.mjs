#!/usr/bin/env node
// Plain JavaScript that every Node version can parse: the program itself needs Node 24, and an older one would report
// a syntax error instead of the reason.
import { fileURLToPath } from "node:url";

const REQUIRED_MAJOR = 24;

/**
 * Settings of glibc, which it reads only when a program starts. Blocks that are larger than a read from a socket (64 KiB) are
 * mapped one by one, so that they return to the system when they are freed: on the heap, small blocks between them would keep
 * the memory of the busiest moment. Reads stay on the heap, because mapping each of them would cost a third of the time of
 * a large message; the listener bounds how many there are. Huge pages make mapping the memory of large files cheap:
 * otherwise every 4 KiB of it cost a page fault. One heap for all threads leaves fewer gaps.
 */
const TUNABLES = {
  "glibc.malloc.mmap_threshold": 80 * 1024,
  "glibc.malloc.trim_threshold": 1024 * 1024,
  "glibc.malloc.hugetlb": 1,
  "glibc.malloc.arena_max": 1,
};

/** Settings of the user are left alone, also in the older form of one variable per setting. */
const USER_SETTINGS = /^(?:GLIBC_TUNABLES|MALLOC_\w+_)$/;

/** Chunks of output are garbage as soon as they are sent: a larger young generation would only hold more of it. */
const NODE_FLAGS = ["--expose-gc", "--max-semi-space-size=8"];

/** Set when the program was started again with `TUNABLES`; `main` removes both from the environment of its children. */
const MARK = "CODEXKIT_EXEC_TUNABLES";

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
  const isSet = MARK in process.env || Object.keys(process.env).some((name) => USER_SETTINGS.test(name));
  return process.platform === "linux" && typeof process.execve === "function" && !isSet;
}

/** Becomes the same program in the same process, with the settings that can't be changed later. */
function startAgain() {
  const flags = [...process.execArgv, ...NODE_FLAGS];
  const program = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  process.execve(process.execPath, [process.execPath, ...flags, ...program], {
    ...process.env,
    GLIBC_TUNABLES: Object.entries(TUNABLES)
      .map(([name, value]) => `${name}=${value}`)
      .join(":"),
    [MARK]: "1",
  });
}

function fail(problem) {
  process.stderr.write(`codexkit-exec-server ${problem}\n`);
  process.exitCode = 1;
}
