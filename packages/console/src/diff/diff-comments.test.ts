import type { DaemonClient } from "@codexkit/daemon/client";
import { describe, expect, it } from "vitest";
import { commentsOf } from "./diff-comments.ts";

const place = { path: "src/a.ts", side: "new", line: 3, code: "x" } as const;

function clientThat(fails: boolean[]) {
  const keys: (string | undefined)[] = [];
  const client = {
    send: async (_id: string, _text: string, options: { idempotencyKey?: string }) => {
      keys.push(options.idempotencyKey);
      if (fails.shift() === true) throw new TypeError("fetch failed");
      return {};
    },
  } as unknown as DaemonClient;
  return { client, keys };
}

function write(session: string, text: string) {
  const comments = commentsOf(session);
  comments.edit(place);
  comments.setText(text);
  comments.save();
  return comments;
}

describe("commentsOf", () => {
  it("keeps the comments of a session", () => {
    write("one", "first");
    expect(commentsOf("one").comments()).toMatchObject([{ ...place, text: "first" }]);
    expect(commentsOf("other").comments()).toEqual([]);
  });

  it("keeps no empty comment", () => {
    expect(write("empty", "  ").comments()).toEqual([]);
  });

  it("sends a message with unknown outcome again with the same key, and keeps the comments until then", async () => {
    const comments = write("retry", "why?");
    const { client, keys } = clientThat([true]);
    await comments.send(client, "retry", "queue");
    expect(comments.problem()).toBe("The daemon can't be reached.");
    expect(comments.comments()).toHaveLength(1);
    await comments.send(client, "retry", "queue");
    expect(comments.comments()).toEqual([]);
    expect(comments.problem()).toBeNull();
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
  });

  it("uses another key for another message", async () => {
    const comments = write("changed", "why?");
    const { client, keys } = clientThat([true]);
    await comments.send(client, "changed", "queue");
    write("changed", "and this?");
    await comments.send(client, "changed", "queue");
    expect(keys[0]).not.toBe(keys[1]);
  });
});
