import { execFileSync } from "node:child_process";
import { appendFile, mkdir, open, rename, symlink, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cliHomeFixture, rolloutText, threadIdOf, turnLines } from "../../test/cli-home-fixture.ts";
import { newSession, useDatabases } from "../../test/database-fixture.ts";
import type { Database } from "../database.ts";
import type { CliThreads, ThreadQuery } from "./cli-threads.ts";
import { readLines, readLinesBackward } from "./rollout-lines.ts";

const ONE = threadIdOf(1);

const list = async (threads: CliThreads, query: Partial<ThreadQuery> = {}) =>
  threads.list({ archived: false, limit: 50, ...query });

const texts = (page: Awaited<ReturnType<CliThreads["items"]>>) =>
  page.data.map(({ item }) => item["text"] ?? (item["content"] as { text: string }[])[0]?.text);

describe("threads of a Codex home", () => {
  const databases = useDatabases("sqlite");
  let database: Database;
  beforeAll(async () => {
    database = await databases.open();
  });
  afterAll(() => database.close());

  test("are listed newest first, page by page, with names, filters and the session that has them", async () => {
    await using home = await cliHomeFixture(database);
    for (let number = 1; number <= 5; number += 1) {
      await home.write(threadIdOf(number), [`message ${number}`], { source: number === 3 ? "exec" : "cli" });
    }
    await home.write(threadIdOf(6), ["elsewhere"], { cwd: "/elsewhere" });
    await home.write(threadIdOf(7), ["agent"], { source: { subagent: "review" } });
    await writeFile(
      join(home.path, "session_index.jsonl"),
      [
        { id: threadIdOf(2), thread_name: "old" },
        { id: threadIdOf(2), thread_name: "new" },
      ]
        .map((entry) => `${JSON.stringify(entry)}\n`)
        .join(""),
    );
    await database.sessions.insert(newSession({ threadId: threadIdOf(4) }));
    const first = await list(home.threads, { limit: 3 });
    expect(first.data.map(({ id, preview }) => [id, preview])).toEqual([
      [threadIdOf(5), "message 5"],
      [threadIdOf(4), "message 4"],
      [threadIdOf(3), "message 3"],
    ]);
    expect(first.data[1]?.sessionId).not.toBeNull();
    const second = await list(home.threads, { limit: 3, cursor: first.next ?? "" });
    expect(second.data.map(({ id, name }) => [id, name])).toEqual([
      [threadIdOf(2), "new"],
      [threadIdOf(1), null],
    ]);
    expect(second.next).toBeNull();
    expect((await list(home.threads, { source: "exec" })).data.map(({ id }) => id)).toEqual([threadIdOf(3)]);
    expect((await list(home.threads, { source: "subAgent" })).data.map(({ id }) => id)).toEqual([
      threadIdOf(7),
    ]);
    expect((await list(home.threads, { cwd: join(home.root, "other") })).data).toEqual([]);
    expect((await list(home.threads, { archived: true })).data).toEqual([]);
    await expect(list(home.threads, { cursor: "x" })).rejects.toMatchObject({ code: "invalid_cursor" });
    await expect(home.threads.get(threadIdOf(6))).rejects.toMatchObject({ code: "path_not_allowed" });
  });

  test("are found by a text of any message, in parts that are bounded", async () => {
    await using home = await cliHomeFixture(database, { searchBytes: 8000 });
    await home.write(threadIdOf(1), ["first", 'the "Needle" is\nhere']);
    await home.write(threadIdOf(2), ["first", "x".repeat(9000), "needle behind the limit"]);
    await home.write(threadIdOf(3), ["needle in the preview"]);
    const found: (string | undefined)[] = [];
    const skipped: string[] = [];
    let pages = 0;
    for (let cursor: string | undefined, isLast = false; !isLast; pages += 1) {
      const page = await list(home.threads, { search: "NEEDLE", ...(cursor !== undefined && { cursor }) });
      found.push(...page.data.map(({ match }) => match));
      skipped.push(...page.skipped.map(({ reason }) => reason));
      cursor = page.next ?? undefined;
      isLast = cursor === undefined;
    }
    expect(found).toEqual(["needle in the preview", 'the "Needle" is here']);
    expect(skipped).toEqual([expect.stringContaining("too large to be searched")]);
    expect(pages).toBe(2);
  });

  test("reads a limited part of the files for one page of a list, and stops when the client has left", async () => {
    await using home = await cliHomeFixture(database, { searchBytes: 3 * 1024 * 1024 });
    const count = 8;
    // The instructions for the model come before the first message.
    const meta = { base_instructions: { text: "x".repeat(1024 * 1024) } };
    for (let number = 1; number <= count; number += 1) await home.write(threadIdOf(number), ["hello"], meta);
    const pages: number[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await list(home.threads, cursor === undefined ? {} : { cursor });
      pages.push(page.data.length);
      cursor = page.next;
    }
    expect(pages).toEqual([3, 3, 2]);
    const signal = AbortSignal.abort();
    await expect(list(home.threads, { signal })).rejects.toThrow("aborted");
  });

  test("are decompressed no further than they are searched", async () => {
    await using home = await cliHomeFixture(database, { searchBytes: 100_000, fileBytes: 10_000_000 });
    for (let number = 1; number <= 3; number += 1) {
      const path = home.pathOf(threadIdOf(number), { suffix: ".zst" });
      await mkdir(dirname(path), { recursive: true });
      const text = rolloutText(threadIdOf(number), ["first"], { cwd: home.root });
      await writeFile(path, zstdCompressSync(Buffer.concat([Buffer.from(text), Buffer.alloc(50_000_000)])));
    }
    const page = await list(home.threads, { search: "needle" });
    expect(page.next).not.toBeNull();
    expect(page.skipped.map(({ reason }) => reason)).toEqual(["It is too large to be searched completely."]);
  });

  test("have their items newest first, also those of the files that they continue", async () => {
    await using home = await cliHomeFixture(database);
    const base = rolloutText(ONE, ["one", "two"], { cwd: home.root });
    const kept = rolloutText(ONE, ["one"], { cwd: home.root }).length;
    await home.write(ONE);
    await writeFile(home.pathOf(ONE), base);
    const segment = `_${threadIdOf(9)}`;
    const newer = home.pathOf(ONE, { time: "2026-11-17T00-00-00", segment });
    await mkdir(dirname(newer), { recursive: true });
    await writeFile(
      newer,
      rolloutText(ONE, ["instead of two"], {
        cwd: home.root,
        history_base: { thread_id: ONE, end_byte_offset: kept, end_ordinal_exclusive: 5 },
      }),
    );
    expect((await list(home.threads)).data).toHaveLength(1);
    const whole = await home.threads.items(ONE, { limit: 50 });
    expect(texts(whole)).toEqual(["re: instead of two", "instead of two", "re: one", "one"]);
    const pages: unknown[] = [];
    for (let cursor: string | undefined, isLast = false; !isLast;) {
      const page = await home.threads.items(ONE, { limit: 1, cursor });
      pages.push(...texts(page));
      cursor = page.next ?? undefined;
      isLast = cursor === undefined;
    }
    expect(pages).toEqual(texts(whole));
    const foreign = Buffer.from(JSON.stringify([threadIdOf(5), 10])).toString("base64url");
    await expect(home.threads.items(ONE, { limit: 1, cursor: foreign })).rejects.toMatchObject({
      code: "invalid_cursor",
    });
  });

  test("of an old Codex have the turn that began before their items", async () => {
    await using home = await cliHomeFixture(database);
    const path = await home.write(ONE, []);
    for (const payload of [
      { type: "task_started", turn_id: "turn" },
      { type: "user_message", message: "hello", images: [] },
      { type: "agent_reasoning", text: "hm" },
      {
        type: "patch_apply_end",
        call_id: "call",
        success: true,
        changes: { "/a": { type: "add", content: "x" } },
      },
      { type: "agent_message", message: "done" },
    ]) {
      await appendFile(path, `${JSON.stringify({ type: "event_msg", payload })}\n`);
    }
    const { data } = await home.threads.items(ONE, { limit: 1 });
    expect(data.map(({ turnId, item }) => [turnId, item["type"]])).toEqual([
      ["turn", "agentMessage"],
      ["turn", "fileChange"],
      ["turn", "reasoning"],
      ["turn", "userMessage"],
    ]);
  });

  test("of an old Codex that does not say where turns begin have bounded pages", async () => {
    await using home = await cliHomeFixture(database);
    const path = await home.write(ONE, []);
    const line = (index: number): string =>
      `${JSON.stringify({ type: "event_msg", payload: { type: "agent_message", message: `m${index}` } })}\n`;
    await appendFile(path, Array.from({ length: 5000 }, (_, index) => line(index)).join(""));
    const seen: unknown[] = [];
    for (let cursor: string | undefined, isLast = false; !isLast;) {
      const page = await home.threads.items(ONE, { limit: 10, cursor });
      expect(page.data.length).toBeLessThanOrEqual(1010);
      seen.push(...texts(page));
      cursor = page.next ?? undefined;
      isLast = cursor === undefined;
    }
    expect(seen).toEqual(Array.from({ length: 5000 }, (_, index) => `m${4999 - index}`));
  });

  test("that are compressed are read like others", async () => {
    await using home = await cliHomeFixture(database);
    const path = home.pathOf(ONE, { suffix: ".zst" });
    await mkdir(dirname(path), { recursive: true });
    const many = Array.from({ length: 20_000 }, (_, index) => `message ${index}`);
    await writeFile(path, zstdCompressSync(rolloutText(ONE, many, { cwd: home.root })));
    expect((await list(home.threads)).data).toMatchObject([{ id: ONE, preview: "message 0" }]);
    expect(texts(await home.threads.items(ONE, { limit: 2 }))).toEqual([
      "re: message 19999",
      "message 19999",
    ]);
    expect((await list(home.threads, { search: "message 19998" })).data).toHaveLength(1);
  });

  describe("that were tampered with", () => {
    test("are skipped with a reason: links, pipes, wrong IDs and names, huge and broken files", async () => {
      await using home = await cliHomeFixture(database, { fileBytes: 1_000_000 });
      const good = await home.write(threadIdOf(1));
      const secret = join(home.path, "auth.json");
      await writeFile(secret, rolloutText(threadIdOf(2), ["secret"], { cwd: home.root }));
      await symlink(secret, home.pathOf(threadIdOf(2)));
      execFileSync("mkfifo", [home.pathOf(threadIdOf(3))]);
      await home.write(threadIdOf(4), ["x"], { id: threadIdOf(1) });
      await home.write(threadIdOf(5), ["x"], { id: "../../auth" });
      await writeFile(home.pathOf(threadIdOf(6)), "");
      await truncate(home.pathOf(threadIdOf(6)), 10 * 1024 ** 3);
      await writeFile(home.pathOf(threadIdOf(7)), "not JSON\n");
      await writeFile(home.pathOf(threadIdOf(8), { suffix: ".zst" }), "not zstd");
      const bomb = zstdCompressSync(Buffer.alloc(50_000_000));
      await writeFile(home.pathOf(threadIdOf(9), { suffix: ".zst" }), bomb);
      await writeFile(join(dirname(good), "rollout-..%2f..%2fauth.jsonl"), "");
      const outside = join(home.root, "outside");
      await mkdir(outside);
      await symlink(outside, join(home.path, "archived_sessions"));
      const page = await list(home.threads);
      expect(page.data.map(({ id }) => id)).toEqual([threadIdOf(1)]);
      const reasons = page.skipped.map(({ reason }) =>
        reason.replace(/The rollout "[^"]*" can't be used\. /, ""),
      );
      expect(reasons.toSorted()).toEqual(
        [
          "It is a symbolic link.",
          "It is a symbolic link or not a regular file.",
          "It is a symbolic link or not a regular file.",
          "It is larger than 1000000 bytes.",
          "It is larger than 1000000 bytes.",
          "Decompression failed.",
          "Its first line does not describe a thread.",
          "Its first line does not describe a thread.",
          "Its first line has a different thread ID than the file name.",
          "Its name does not have Codex's format.",
        ].toSorted(),
      );
      for (let number = 2; number <= 9; number += 1) {
        await expect(home.threads.items(threadIdOf(number), { limit: 1 })).rejects.toMatchObject({
          code: "thread_unreadable",
        });
      }
    });

    test("are not read through a linked folder", async () => {
      await using home = await cliHomeFixture(database);
      const path = await home.write(ONE);
      const moved = join(home.root, "moved");
      await rename(dirname(path), moved);
      await symlink(moved, dirname(path));
      expect(await list(home.threads)).toMatchObject({
        data: [],
        skipped: [{ reason: "It is a symbolic link." }],
      });
      await expect(home.threads.get(ONE)).rejects.toMatchObject({ code: "thread_not_found" });
    });

    test("are read without lines that are broken or too long", async () => {
      await using home = await cliHomeFixture(database);
      const path = await home.write(ONE, ["one"]);
      const file = await open(path, "a");
      await file.write('{"broken\n');
      await file.write(Buffer.concat([Buffer.alloc(32 * 1024 * 1024, "x"), Buffer.from("\n")]));
      await file.close();
      await appendFile(path, turnLines(ONE, "turn-2", "two").join(""));
      const deep = `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`;
      const call = `{"type":"McpToolCall","id":"deep","arguments":${deep}}`;
      await appendFile(path, `{"type":"event_msg","payload":{"type":"item_completed","item":${call}}}\n`);
      await appendFile(path, '{"in the making');
      const page = await home.threads.items(ONE, { limit: 50 });
      expect(texts(page)).toEqual(["re: two", "two", "re: one", "one"]);
      expect(page.skippedLines).toBe(3);
    });

    test("don't prevent others from being listed if their messages are invalid", async () => {
      await using home = await cliHomeFixture(database);
      await home.write(threadIdOf(2), ["fine"]);
      const path = await home.write(ONE, []);
      for (const content of [null, [null], [{ type: "text", text: { toString: 1 } }]]) {
        const item = { type: "UserMessage", id: "item", content };
        await appendFile(
          path,
          `${JSON.stringify({ type: "event_msg", payload: { type: "item_completed", item } })}\n`,
        );
      }
      expect((await list(home.threads)).data.map(({ preview }) => preview)).toEqual(["fine", ""]);
      expect((await list(home.threads, { search: "fine" })).data).toHaveLength(1);
    });

    test("are read in bounded parts if they have millions of lines, and others are read meanwhile", async () => {
      const limits = { searchBytes: 1024 * 1024 };
      await using home = await cliHomeFixture(database, limits);
      const path = await home.write(ONE, ["one"]);
      await appendFile(path, Buffer.alloc(2_000_000, "\n"));
      await writeFile(join(home.path, "session_index.jsonl"), Buffer.alloc(2_000_000, "\n"));
      // With only a byte limit, a request could read a million lines.
      const most = limits.searchBytes / 256;
      const page = await home.threads.items(ONE, { limit: 10 });
      expect(page).toMatchObject({ data: [], next: expect.any(String) as string });
      expect(page.skippedLines).toBeLessThan(most);
      const { data, skipped, next } = await list(home.threads, { search: "not there" });
      expect([data.length, next, skipped.map(({ reason }) => reason)]).toEqual([
        0,
        null,
        ["It is too large to be searched completely."],
      ]);
      const file = await open(path);
      let rounds = 0;
      const count = (): void => {
        rounds += 1;
        counter = setImmediate(count);
      };
      let counter = setImmediate(count);
      for (const read of [readLines, readLinesBackward]) {
        rounds = 0;
        // One chunk of the file.
        for await (const _ of read(file, { from: 1_000_000, to: 1_200_000, maxLineBytes: 1024 }));
        expect(rounds).toBeGreaterThan(100);
      }
      clearImmediate(counter);
      await file.close();
    });

    test("are refused if they continue themselves, a missing file, or more than there is", async () => {
      await using home = await cliHomeFixture(database);
      const bases = {
        [threadIdOf(1)]: { thread_id: threadIdOf(1), end_byte_offset: 10 },
        [threadIdOf(2)]: { thread_id: threadIdOf(99), end_byte_offset: 10 },
        [threadIdOf(3)]: { thread_id: threadIdOf(4), end_byte_offset: 1_000_000 },
      };
      await home.write(threadIdOf(4));
      for (const [id, base] of Object.entries(bases)) {
        await home.write(id, ["x"], { history_base: base });
        await expect(home.threads.items(id, { limit: 1 })).rejects.toMatchObject({
          code: "thread_unreadable",
        });
      }
    });
  });
});
