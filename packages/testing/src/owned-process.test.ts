import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { OwnedProcess } from "./owned-process.ts";

function shell(script: string): OwnedProcess {
  return new OwnedProcess({ command: "/bin/sh", args: ["-c", script] });
}

/** Gone, or a zombie that waits for its parent: either way it runs no more. */
async function isGone(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat === "" || stat.includes(") Z ");
}

describe("an owned process", () => {
  it("leaves when its stdin closes", async () => {
    const owned = shell("cat; exit 3");
    await owned.stop();
    await expect(owned.ended).resolves.toEqual({ code: 3, signal: null });
  });

  it("is stopped with all its descendants, also those that ignore SIGTERM", async () => {
    const owned = shell("trap '' TERM; (trap '' TERM; sleep 600) & echo $!; wait");
    const [line] = (await once(owned.child.stdout, "data")) as [Buffer];
    await owned.stop("SIGKILL");
    await expect(owned.ended).resolves.toMatchObject({ signal: "SIGKILL" });
    await expect.poll(() => isGone(Number(line.toString()))).toBe(true);
  });

  it("says how it ended, with the end of its stderr", async () => {
    const owned = shell("echo out of luck >&2; exit 9");
    expect(owned.describeEnd(await owned.ended)).toBe(
      "/bin/sh exited with code 9; its last words:\nout of luck",
    );
  });

  it("reports a command that does not exist as an end, not as a crash of its owner", async () => {
    const owned = new OwnedProcess({ command: "/nonexistent/codex" });
    expect(owned.describeEnd(await owned.ended)).toContain("ENOENT");
    await owned.stop();
  });
});
