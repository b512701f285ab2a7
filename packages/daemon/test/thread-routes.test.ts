import { once } from "node:events";
import { appendFile, readdir, readlink } from "node:fs/promises";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import type { Problem } from "../src/api/problem.ts";
import type { ThreadFrame } from "../src/api/thread.ts";
import { cliHomeFixture, threadIdOf } from "./cli-home-fixture.ts";
import { useDatabases } from "./database-fixture.ts";
import { pollUntil } from "./poll-until.ts";
import { startTestDaemon } from "./test-daemon.ts";

const ID = threadIdOf(1);

async function openFiles(path: string): Promise<number> {
  const links = (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ""));
  return (await Promise.all(links)).filter((link) => link === path).length;
}

describe("the routes of threads", () => {
  const databases = useDatabases("sqlite");

  test("leave no file open when clients disconnect, at any moment", async () => {
    const database = await databases.open();
    await using home = await cliHomeFixture(database);
    await using api = await startTestDaemon(database, { threads: home.threads });
    const path = await home.write(ID, ["one"]);
    await api.listen();
    const port = Number(new URL(api.daemon.url ?? "").port);
    for (let round = 0; round < 30; round += 1) {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      const lines = [
        `GET /threads/${ID}/events HTTP/1.1`,
        "host: localhost",
        `authorization: Bearer ${api.token}`,
      ];
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
      if (round % 3 === 1) await new Promise((resolve) => setImmediate(resolve));
      if (round % 3 === 2) await once(socket, "data");
      socket.destroy();
    }
    await pollUntil(async () => {
      const { streams } = (await (await api.request("GET /diagnostics")).json()) as {
        streams: { threads: number };
      };
      return streams.threads === 0 && (await openFiles(path)) === 0;
    });
  });

  test("send a frame in place of a line that can't be sent, and continue", async () => {
    const database = await databases.open();
    await using home = await cliHomeFixture(database);
    await using api = await startTestDaemon(database, { threads: home.threads });
    const path = await home.write(ID, []);
    const deep = `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`;
    const item = `{"type":"McpToolCall","id":"deep","arguments":${deep}}`;
    await appendFile(path, `{"type":"event_msg","payload":{"type":"item_completed","item":${item}}}\n`);
    const client = await api.listen();
    const frames: ThreadFrame[] = [];
    for await (const frame of client.threads.follow(ID)) {
      frames.push(frame);
      if (frame.type === "following") break;
    }
    expect(frames.map(({ type }) => type)).toEqual(["skipped", "following"]);
  });

  test("need their scopes, a UUID, and a folder inside the roots", async () => {
    const database = await databases.open();
    await using home = await cliHomeFixture(database);
    await using api = await startTestDaemon(database, { threads: home.threads });
    await home.write(ID, ["one"]);
    const answer = async (operation: string, headers: Record<string, string> = {}): Promise<string> => {
      const json = operation.startsWith("POST") ? { json: {} } : {};
      const response = await api.request(operation, { ...json, headers });
      const body = (await response.json()) as Problem;
      return response.ok ? "ok" : body.type;
    };
    const token = await api.createToken(["read"]);
    const reader = { authorization: `Bearer ${token}` };
    expect(await answer(`GET /threads/${ID}`, reader)).toBe("ok");
    expect(await answer(`POST /threads/${ID}/import`, reader)).toBe("forbidden");
    expect(await answer(`POST /threads/${ID}/fork`, reader)).toBe("forbidden");
    expect(
      await answer("GET /threads", { authorization: `Bearer ${await api.createToken(["write"])}` }),
    ).toBe("forbidden");
    // The daemon's root is not the home folder.
    expect(await answer(`POST /threads/${ID}/import`)).toBe("path_not_allowed");
    for (const id of ["..%2f..%2fauth", "%00", ID.toUpperCase(), `${ID}%2f..`]) {
      expect(await answer(`GET /threads/${id}/items`)).toBe("bad_request");
    }
    expect(await answer(`GET /threads/${threadIdOf(2)}`)).toBe("thread_not_found");
    const { rows } = await database.sessions.list();
    expect(rows).toEqual([]);
  });
});
