// Sessions that are damaged, have other versions, or have two writers.
import { tempFolder } from "@codexkit/testing";
import fc from "fast-check";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { writeOwner } from "../src/owner-file.ts";
import { openSession } from "../src/session/file-backend.ts";
import { defineEvent } from "../src/session/session-event.ts";
import { PromptSession } from "../src/session/session.ts";
import { defineSlice } from "../src/session/slice.ts";

const words = defineSlice<readonly string[]>({ name: "words", schema: z.array(z.string()), initial: [] });

let folder: Awaited<ReturnType<typeof tempFolder>>;
let path: string;

beforeEach(async () => {
  folder = await tempFolder("hostile-session");
  path = join(folder.path, "session.jsonl");
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("JSON", () => {
  test.for([
    null,
    [],
    "",
    "{",
    "null",
    42,
    {},
    { version: 1 },
    { version: 1, id: 5, slices: {} },
    { version: 1, id: "x", slices: [] },
    { version: 1, id: "x", slices: null },
    { version: "1", id: "x", slices: {} },
    { version: 0, id: "x", slices: {} },
    { version: -1, id: "x", slices: {} },
    { version: 1.5, id: "x", slices: {} },
    { version: 2, id: "x", slices: {} },
    { version: 1e300, id: "x", slices: {} },
  ])("%j is rejected", (json) => {
    expect(() => PromptSession.fromJSON(json)).toThrow(
      expect.objectContaining({ code: "invalid_snapshot" }) as Error,
    );
  });

  test("slices named like object members are ordinary slices", () => {
    const json = '{"version":1,"id":"x","slices":{"__proto__":{"polluted":1},"constructor":["a"]}}';
    const session = PromptSession.fromJSON(json);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const odd = defineSlice({ name: "constructor", schema: z.array(z.string()), initial: [] as string[] });
    expect(session.get(odd)).toEqual(["a"]);
  });
});

describe("files", () => {
  const header = '{"version":1,"id":"x"}\n';

  test.for([
    "nonsense\n",
    "\n",
    "null\n",
    "[]\n",
    '{"version":0,"id":"x"}\n',
    '{"version":2,"id":"x"}\n',
    '{"version":"1","id":"x"}\n',
    '{"id":"x"}\n',
    `${header}null\n`,
    `${header}[]\n`,
    `${header}{}\n`,
    `${header}\n`,
    `${header}{"slice":5,"set":1}\n`,
    `${header}{"slice":"words","append":"a"}\n`,
    `${header}{"slice":"words","set":1}\n{"slice":"words","append":["a"]}\n`,
    `${header}{"slice":"words","set":["a"]\n{"slice":"words","append":["b"]}\n`,
    "\u0000\u0000\u0000\n",
    "\uFEFFx\n",
  ])("%j is rejected and left unchanged", async (text) => {
    writeFileSync(path, text);
    await expect(openSession(path)).rejects.toMatchObject({ code: "invalid_snapshot" });
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test("a stored state of the wrong type is rejected when its slice is used", async () => {
    writeFileSync(path, `${header}{"slice":"words","set":{"a":1}}\n`);
    await using session = await openSession(path);
    expect(() => session.get(words)).toThrow(expect.objectContaining({ code: "invalid_snapshot" }) as Error);
  });

  test.for(["", "{", '{"version":1,"id"', "\0\0\0"])(
    "a file whose first line was cut off at %j is started again",
    async (text) => {
      writeFileSync(path, text);
      {
        await using session = await openSession(path, { slices: [words] });
        session.update(words, () => ["a"]);
        await session.flush();
      }
      await using session = await openSession(path, { slices: [words] });
      expect(session.get(words)).toEqual(["a"]);
    },
  );

  test("a file that was truncated anywhere contains all changes before that point", async () => {
    {
      await using session = await openSession(path, { slices: [words] });
      for (const word of ["one", "zwei", "drøj", "四"]) session.update(words, (all) => [...all, word]);
      await session.flush();
    }
    const bytes = readFileSync(path);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: bytes.length }), async (length) => {
        writeFileSync(path, bytes.subarray(0, length));
        await using session = await openSession(path, { slices: [words] });
        expect(["one", "zwei", "drøj", "四"].slice(0, session.get(words).length)).toEqual(session.get(words));
      }),
    );
  });

  test.for(["my notes", '{"name":"x"}', "garbage without an end"])(
    "a file with %j and no line end is another program's, and is kept",
    async (text) => {
      writeFileSync(path, text);
      await expect(openSession(path)).rejects.toMatchObject({ code: "invalid_snapshot" });
      expect(readFileSync(path, "utf8")).toBe(text);
    },
  );

  test("a folder instead of the file causes an error and leaves no lock", async () => {
    mkdirSync(path);
    await expect(openSession(path)).rejects.toMatchObject({ code: "invalid_option" });
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test("a missing folder is named in the error", async () => {
    await expect(openSession(join(folder.path, "missing", "session.jsonl"))).rejects.toThrow(
      join(folder.path, "missing"),
    );
  });

  test("only the owner can read the file", async () => {
    await using _session = await openSession(path);
    expect(statSync(path).mode & 0o077).toBe(0);
  });
});

describe("options", () => {
  test("that are misspelt or have the wrong type are rejected", async () => {
    await expect(openSession(path, { slice: [] } as never)).rejects.toThrow(/Did you mean "slices"/);
    expect(() => new PromptSession({ slice: [] } as never)).toThrow(/Did you mean "slices"/);
    expect(() => new PromptSession({ id: 5 } as never)).toThrow(/id must be a string/);
    expect(existsSync(path)).toBe(false);
  });

  test("of slices with which a stored session could not be read are rejected", () => {
    const schema = z.string();
    expect(() => defineSlice({ name: "a", schema, initial: 5 as never })).toThrow(/initial does not match/);
    expect(() => defineSlice({ name: "__proto__", schema, initial: "" })).toThrow(/name/);
  });
});

test("an event without a payload can be stored and read", () => {
  const Done = defineEvent<undefined>("Done");
  const session = new PromptSession();
  session.dispatch(Done(undefined));
  expect(PromptSession.fromJSON(JSON.stringify(session)).eventsOf(Done)).toEqual([undefined]);
});

describe("two writers", () => {
  test("an open file is rejected under another name too", async () => {
    await using _session = await openSession(path);
    const link = join(folder.path, "link.jsonl");
    symlinkSync(path, link);
    await expect(openSession(link)).rejects.toMatchObject({ code: "session_locked" });
  });

  test("an open file is rejected, and can be opened after it is closed", async () => {
    {
      await using session = await openSession(path, { slices: [words] });
      await expect(openSession(path)).rejects.toMatchObject({ code: "session_locked" });
      session.update(words, () => ["a"]);
    }
    await using again = await openSession(path, { slices: [words] });
    expect(again.get(words)).toEqual(["a"]);
  });

  test("only one of many that open a file at the same time succeeds", async () => {
    const opened = await Promise.allSettled(Array.from({ length: 10 }, () => openSession(path)));
    const sessions = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(sessions).toHaveLength(1);
    for (const session of sessions) await session[Symbol.asyncDispose]();
  });

  test("the lock of a process that was killed is removed", async () => {
    const child = spawn(
      process.execPath,
      [
        "--conditions=codexkit:source",
        "--input-type=module",
        "-e",
        `import { openSession } from ${JSON.stringify(join(import.meta.dirname, "../src/session/file-backend.ts"))};
         await openSession(${JSON.stringify(path)});
         console.log("open");
         setInterval(() => {}, 1000);`,
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    await once(child.stdout, "data");
    await expect(openSession(path)).rejects.toMatchObject({ code: "session_locked" });
    child.kill("SIGKILL");
    await once(child, "exit");

    await using session = await openSession(path);
    expect(session.id).not.toBe("");
  });

  test("a lock that can't be read is respected", async () => {
    writeFileSync(`${path}.lock`, "");
    await expect(openSession(path)).rejects.toThrow(/remove .*\.lock if no program uses it/);
  });

  test("a session of this process keeps its lock", () => {
    writeOwner(`${path}.lock`);
    expect(() => writeOwner(`${path}.lock`, "wx")).toThrow(/EEXIST/);
  });
});
