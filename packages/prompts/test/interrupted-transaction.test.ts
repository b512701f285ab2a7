// Transactions whose process was killed.
import { tempFolder } from "@codexkit/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openWorkspace } from "../src/workspace/open-workspace.ts";

const program = join(import.meta.dirname, "./killed-transaction.ts");

async function killInTransaction(folder: string, stateRoot: string): Promise<string> {
  const child = spawn(process.execPath, ["--conditions=codexkit:source", program, folder, stateRoot], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [root] = (await once(child.stdout, "data")) as [Buffer];
  child.kill("SIGKILL");
  await once(child, "exit");
  return root.toString().trim();
}

describe("kill -9 in the middle of a transaction", () => {
  test("is reported on the next start, which can restore the folder; no temporary folder remains", async () => {
    await using temporary = await tempFolder("killed");
    const folder = join(temporary.path, "work");
    const stateRoot = join(temporary.path, "state");
    mkdirSync(folder);
    writeFileSync(join(folder, "a.txt"), "before");
    const leftOver = await killInTransaction(folder, stateRoot);
    expect(existsSync(leftOver)).toBe(true);

    {
      await using other = openWorkspace();
      expect(existsSync(dirname(leftOver))).toBe(false);
      expect(existsSync(other.root)).toBe(true);
    }
    await using workspace = openWorkspace({ folder, stateRoot });
    expect(workspace.hasInterrupted).toBe(true);
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("half done");

    const report = await workspace.restoreInterrupted();

    expect(report).toEqual({ restored: ["a.txt", "b.txt"], conflicts: [] });
    expect(readdirSync(folder)).toEqual(["a.txt"]);
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("before");
    expect(workspace.hasInterrupted).toBe(false);
  });

  test("can be discarded and is then no longer reported", async () => {
    await using temporary = await tempFolder("killed");
    const folder = join(temporary.path, "work");
    const stateRoot = join(temporary.path, "state");
    mkdirSync(folder);
    await killInTransaction(folder, stateRoot);
    // Removes the killed process's temporary folder.
    await openWorkspace()[Symbol.asyncDispose]();
    {
      await using workspace = openWorkspace({ folder, stateRoot });
      workspace.discardInterrupted();
    }
    await using workspace = openWorkspace({ folder, stateRoot });

    expect(workspace.hasInterrupted).toBe(false);
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("half done");
  });

  test("with a damaged journal is reported, and kept until it is discarded", async () => {
    await using temporary = await tempFolder("killed");
    const folder = join(temporary.path, "work");
    const stateRoot = join(temporary.path, "state");
    mkdirSync(folder);
    writeFileSync(join(folder, "a.txt"), "before");
    await killInTransaction(folder, stateRoot);
    await openWorkspace()[Symbol.asyncDispose]();
    const journal = readdirSync(stateRoot, { recursive: true, encoding: "utf8" }).find((name) =>
      name.endsWith("journal.jsonl"),
    );
    const path = join(stateRoot, journal ?? "");
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, [lines[0]?.slice(0, 20), ...lines.slice(1)].join("\n"));
    {
      await using workspace = openWorkspace({ folder, stateRoot });
      expect(workspace.hasInterrupted).toBe(true);
      await expect(workspace.restoreInterrupted()).rejects.toMatchObject({
        code: "invalid_snapshot",
        message: expect.stringContaining(`${path}:1`) as string,
      });
      expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("half done");
      expect(workspace.hasInterrupted).toBe(true);
      workspace.discardInterrupted();
      expect(workspace.hasInterrupted).toBe(false);
    }
    await using workspace = openWorkspace({ folder, stateRoot });
    expect(workspace.hasInterrupted).toBe(false);
  });
});
