// Callers without permissions, with the wrong snapshot, or after the workspace was closed.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { useWorkspaceFolder } from "../../test/workspace-folder.ts";
import { openWorkspace } from "./open-workspace.ts";

const at = useWorkspaceFolder("misuse");
const { openRoot, put, read } = at;

describe("an account without permissions", () => {
  /** Runs a program as another user, if this user may. */
  function runUnprivileged(program: string): string {
    const as = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    return execFileSync(
      process.execPath,
      ["--conditions=codexkit:source", "--input-type=module", "-e", program],
      { ...as, encoding: "utf8", env: { ...process.env, HOME: tmpdir() } },
    );
  }

  test("does not fail on files and folders that it can't read, which stay uncovered", () => {
    put("readable");
    put("secret");
    put("closed/a");
    put("listed/a");
    chmodSync(dirname(at.parent), 0o711);
    chmodSync(at.parent, 0o777);
    chmodSync(at.root, 0o777);
    chmodSync(join(at.root, "secret"), 0o000);
    chmodSync(join(at.root, "closed"), 0o000);
    chmodSync(join(at.root, "listed"), 0o444);
    const printed = runUnprivileged(`
      import { writeFileSync, readFileSync } from "node:fs";
      import { openWorkspace } from ${JSON.stringify(join(import.meta.dirname, "open-workspace.ts"))};
      await using workspace = openWorkspace({
        folder: ${JSON.stringify(at.root)},
        stateRoot: ${JSON.stringify(join(at.parent, "other-state"))},
      });
      const { uncovered } = await workspace.snapshot();
      await workspace.transact(async (transaction) => {
        workspace.writeText("new", "x");
        await transaction.rollback();
      });
      console.log(JSON.stringify({ uncovered: uncovered.toSorted(), isNew: workspace.exists("new") }));
    `);
    for (const name of ["closed", "listed"]) chmodSync(join(at.root, name), 0o755);
    expect(JSON.parse(printed)).toEqual({ uncovered: ["closed", "listed/a", "secret"], isNew: false });
  });
});

test("a nested transaction is rejected instead of waiting for itself", async () => {
  await using workspace = openRoot();
  await workspace.transact(async () => {
    await expect(workspace.transact(async () => {})).rejects.toThrow(/wait for itself/);
  });
});

describe("snapshots", () => {
  test("that are forged or belong to another workspace are rejected, because they would remove every file", async () => {
    put("a");
    await using workspace = openRoot();
    await using other = openWorkspace();
    const made = { ...(await workspace.snapshot()) };
    for (const snapshot of [await other.snapshot(), made]) {
      await expect(workspace.restore(snapshot)).rejects.toMatchObject({ code: "invalid_snapshot" });
    }
    expect(read("a")).toBe("before");
  });

  test("can't be restored with misspelt options", async () => {
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    await expect(workspace.restore(snapshot, { mayRestor: () => false } as never)).rejects.toThrow(
      /mayRestor/,
    );
  });
});

test("a closed workspace is not recreated", async () => {
  const workspace = openWorkspace();
  await workspace[Symbol.asyncDispose]();
  expect(() => workspace.writeText("a", "text")).toThrow(/closed/);
  expect(() => workspace.exists("a")).toThrow(/closed/);
  expect(existsSync(workspace.root)).toBe(false);
});
