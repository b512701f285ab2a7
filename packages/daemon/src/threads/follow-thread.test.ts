import { appendFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cliHomeFixture,
  type CliHomeFixture,
  rolloutText,
  threadIdOf,
  turnLines,
} from "../../test/cli-home-fixture.ts";
import { useDatabases } from "../../test/database-fixture.ts";
import type { ThreadFrame } from "../api/thread.ts";
import type { Database } from "../database.ts";
import { type FollowedFrame, followThread } from "./follow-thread.ts";

const ID = threadIdOf(1);
const TURN = ["turn.started", "item.completed", "item.completed", "turn.completed"];

describe("following a thread", () => {
  const databases = useDatabases("sqlite");
  let database: Database;
  beforeAll(async () => {
    database = await databases.open();
  });
  afterAll(() => database.close());

  function follow(home: CliHomeFixture, after?: string) {
    const stop = new AbortController();
    const frames = followThread(home.threads, ID, { after, signal: stop.signal });
    return {
      /** Returns the frames through the first one of a type. */
      until: async (type: ThreadFrame["type"]): Promise<FollowedFrame[]> => {
        const seen: FollowedFrame[] = [];
        for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
          seen.push(next.value);
          if (next.value.frame.type === type) return seen;
        }
        throw new Error(`The stream ended: ${seen.map(({ frame }) => frame.type).join()}`);
      },
      isDone: async () => (await frames.next()).done,
      [Symbol.asyncDispose]: async () => {
        stop.abort();
        await frames.return(undefined);
      },
    };
  }
  const types = (frames: readonly FollowedFrame[]) => frames.map(({ frame }) => frame.type);

  test("gives the history, then each line when it is complete, and continues after a cursor", async () => {
    await using home = await cliHomeFixture(database);
    const path = await home.write(ID, ["one"]);
    await using stream = follow(home);
    expect(types(await stream.until("following"))).toEqual([...TURN, "following"]);
    const [started = "", user = "", agent = "", ended = ""] = turnLines(ID, "turn-2", "two");
    await appendFile(path, started.slice(0, 20));
    await appendFile(path, started.slice(20) + user);
    const [first, second] = await stream.until("item.completed");
    expect(types([first, second].filter((frame) => frame !== undefined))).toEqual(TURN.slice(0, 2));
    await appendFile(path, agent + ended);
    await stream.until("turn.completed");
    await using again = follow(home, first?.cursor);
    expect(types(await again.until("following"))).toEqual([...TURN.slice(1), "following"]);
  });

  test("begins again if the file is truncated, replaced, or continued elsewhere after a revert", async () => {
    await using home = await cliHomeFixture(database);
    const path = await home.write(ID, ["one", "two"]);
    await using stream = follow(home);
    await stream.until("following");
    await truncate(path, rolloutText(ID, ["one"], { cwd: home.root }).length);
    const [restarted, ...rest] = await stream.until("following");
    expect(restarted?.frame).toEqual({ type: "restarted", reason: "truncated" });
    expect(types(rest)).toEqual([...TURN, "following"]);
    await writeFile(`${path}.new`, rolloutText(ID, ["other"], { cwd: home.root }));
    await rename(`${path}.new`, path);
    const replaced = await stream.until("following");
    expect(replaced[0]?.frame).toEqual({ type: "restarted", reason: "replaced" });
    const newer = home.pathOf(ID, { time: "2026-11-16T16-00-00", segment: `_${threadIdOf(9)}` });
    await writeFile(newer, rolloutText(ID, ["instead"], { cwd: home.root }));
    const reverted = await stream.until("following");
    expect(reverted[0]?.frame).toEqual({ type: "restarted", reason: "reverted" });
    expect(JSON.stringify(reverted)).toContain("re: instead");
  });

  test("reports lines that can't be read, and skips one that does not end", async () => {
    await using home = await cliHomeFixture(database, { lineBytes: 4096 });
    const path = await home.write(ID, ["one"]);
    await using stream = follow(home);
    await stream.until("following");
    await appendFile(path, `broken\n${"x".repeat(10_000)}\n`);
    expect((await stream.until("skipped"))[0]?.frame).toEqual({ type: "skipped", lines: 2 });
    await appendFile(path, "x".repeat(10_000));
    await appendFile(path, `${"x".repeat(10)}\n${turnLines(ID, "turn-2", "two").join("")}`);
    expect(types(await stream.until("skipped"))).toEqual([...TURN, "skipped"]);
  });

  test("ends if the file is deleted, and rejects an unknown thread and cursor at once", async () => {
    await using home = await cliHomeFixture(database);
    const path = await home.write(ID, ["one"]);
    await using stream = follow(home);
    await stream.until("following");
    await rm(path);
    await stream.until("ended");
    expect(await stream.isDone()).toBe(true);
    await using gone = follow(home);
    await expect(gone.until("following")).rejects.toMatchObject({ code: "thread_not_found" });
    await using bad = follow(home, "x:1");
    await expect(bad.until("following")).rejects.toMatchObject({ code: "invalid_cursor" });
  });
});
