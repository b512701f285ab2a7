import { tempFolder } from "@codexkit/testing";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { localSandbox } from "./local-sandbox.ts";

describe("the local sandbox", () => {
  it("reads and writes files relative to its folder", async () => {
    await using folder = await tempFolder("local-sandbox");
    const session = await localSandbox({ folder: folder.path }).createSession();
    await session.writeTextFile({ path: "deep/a.txt", content: "one\ntwo\nthree" });
    await session.writeBinaryFile({ path: `${folder.path}/b`, content: new Uint8Array([1, 2]) });
    await session.writeFile({ path: "c", content: new Blob(["streamed"]).stream() });
    await expect(session.readTextFile({ path: "deep/a.txt" })).resolves.toBe("one\ntwo\nthree");
    await expect(session.readTextFile({ path: "deep/a.txt", startLine: 2, endLine: 9 })).resolves.toBe(
      "two\nthree",
    );
    await expect(session.readBinaryFile({ path: "b" })).resolves.toEqual(Buffer.from([1, 2]));
    const stream = await session.readFile({ path: "c" });
    expect(await text(stream ?? new ReadableStream())).toBe("streamed");
    for (const read of ["readFile", "readBinaryFile", "readTextFile"] as const)
      await expect(session[read]({ path: "none" })).resolves.toBeNull();
    await session.destroy();
  });

  it("runs commands with a working folder and environment variables, and returns exit codes", async () => {
    await using folder = await tempFolder("local-sandbox");
    const session = await localSandbox({ folder: folder.path }).createSession({ sessionId: "s" });
    expect(session.id).toBe("s");
    const ran = await session.run({ command: "pwd; echo $WHO >&2; exit 3", env: { WHO: "me" } });
    expect(ran).toEqual({ exitCode: 3, stdout: expect.stringContaining(folder.path), stderr: "me\n" });
    await session.destroy();
  });

  it("ends running commands on kill, abort and stop", async () => {
    await using folder = await tempFolder("local-sandbox");
    const session = await localSandbox({ folder: folder.path }).createSession();
    const killed = await session.spawn({ command: "sleep 600" });
    await killed.kill();
    expect((await killed.wait()).exitCode).not.toBe(0);
    const abort = new AbortController();
    const aborted = await session.spawn({ command: "sleep 600", abortSignal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(aborted.wait()).rejects.toThrow("enough");
    await expect(session.run({ command: "true", abortSignal: abort.signal })).rejects.toThrow("enough");
    const stopped = await session.spawn({ command: "sleep 600" });
    await session.stop();
    expect((await stopped.wait()).exitCode).not.toBe(0);
  });
});
