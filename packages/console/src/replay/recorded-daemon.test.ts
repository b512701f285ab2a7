import type { SessionEvent } from "@codexkit/daemon/client";
import { expect, test } from "vitest";
import type { ExportedSession } from "./read-export.ts";
import { createRecordedClient } from "./recorded-daemon.ts";

const session = { id: "s1", threadId: "t", name: "Demo", cwd: "/srv/app" } as ExportedSession["session"];
const events = [
  { type: "diff.updated", turnId: "one", diff: "a" },
  {
    type: "item.completed",
    turnId: "one",
    item: { id: "i", command: "ls", aggregatedOutput: "long output" },
  },
  {
    type: "item.completed",
    turnId: "two",
    item: { id: "item-with-a-long-id", type: "agentMessage", phase: "final_answer", text: "Hi." },
  },
  { type: "diff.updated", turnId: "two", diff: "b" },
] as unknown as readonly SessionEvent[];

const client = createRecordedClient({ session, codexVersion: null, events }, () => events);
const params = { sessionId: "s1" };

test("serves the session without a history", async () => {
  expect(await client.request("GET /sessions/{sessionId}", { params })).toMatchObject({
    id: "s1",
    name: "Demo",
    lastSeq: 0,
  });
  expect(await client.request("GET /sessions/{sessionId}/items", { params })).toEqual({
    data: [],
    next: null,
  });
});

test("reads texts and diffs from the events before the position", async () => {
  const body = await client.request("GET /sessions/{sessionId}/items/{itemId}/body", {
    params: { ...params, itemId: "i" },
    query: { offset: 5, limit: 3 },
  });
  expect(body).toEqual({ text: "out", offset: 5, length: 11, next: 8 });
  expect(await client.request("GET /sessions/{sessionId}/diff", { params })).toEqual({
    turnId: "two",
    diff: "b",
  });
  expect(
    await client.request("GET /sessions/{sessionId}/diff", { params, query: { turnId: "one" } }),
  ).toEqual({ turnId: "one", diff: "a" });
});

test("reads the same text of an item as the daemon, even if a label is longer", async () => {
  const body = await client.request("GET /sessions/{sessionId}/items/{itemId}/body", {
    params: { ...params, itemId: "item-with-a-long-id" },
  });
  expect(body).toEqual({ text: "Hi.", offset: 0, length: 3, next: null });
});

test("refuses all mutations", async () => {
  await expect(client.send("s1", "hi")).rejects.toMatchObject({ code: "read_only" });
});
