import { tempFolder } from "@codexkit/testing";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Closes the descriptor of its session's file, so that the session can't. A child process, because others may reuse the number. */
const program = `
import { closeSync, existsSync, readdirSync, readlinkSync } from "node:fs";
import { openSession } from ${JSON.stringify(new URL("file-backend.ts", import.meta.url).href)};
const [, path] = process.argv;
const session = await openSession(path);
await session.flush();
const links = readdirSync("/proc/self/fd").filter((fd) => existsSync("/proc/self/fd/" + fd));
closeSync(Number(links.find((fd) => readlinkSync("/proc/self/fd/" + fd) === path)));
await session[Symbol.asyncDispose]().catch(({ code }) => console.log(code));
await using again = await openSession(path);
console.log("opened again");
`;

test.runIf(process.platform === "linux")("a session whose file can't be closed is unlocked", async () => {
  await using folder = await tempFolder("session");
  const path = join(folder.path, "session.jsonl");
  const args = ["--conditions=codexkit:source", "--input-type=module", "-e", program, path];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe("EBADF\nopened again\n");
});
