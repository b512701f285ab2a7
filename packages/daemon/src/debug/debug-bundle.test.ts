import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, test } from "vitest";
import { newSession, useDatabases } from "../../test/database-fixture.ts";
import { createDebugBundle } from "./debug-bundle.ts";

describe.each(STORE_KINDS)("a debug bundle on %s", (kind) => {
  const databases = useDatabases(kind);

  test("has no answers to secret questions", async () => {
    await using database = await databases.open();
    const answer = 'secret-of "quoted" answer';
    const { session } = await database.sessions.insert(newSession({ name: `It is ${answer}` }));
    const question = {
      id: "pin",
      header: "PIN",
      question: "PIN?",
      isOther: false,
      isSecret: true,
      options: null,
    };
    await database.store.db
      .insertInto("approval")
      .values({
        id: "approval",
        session_id: session.id,
        epoch: 1,
        thread_id: "thread",
        turn_id: "turn",
        item_id: null,
        call_id: "call",
        request_id: "1",
        kind: "userInput",
        fingerprint: "f",
        request: JSON.stringify({ kind: "userInput", isBlocking: true, questions: [question] }),
        verdict: null,
        offers: "[]",
        state: "delivered",
        answer: JSON.stringify({ type: "answers", answers: { pin: [answer] } }),
        answered_by: "someone",
        answered_by_name: null,
        answered_at: 1,
        note: `Nested: ${JSON.stringify([answer])}`,
        created_at: 1,
        updated_at: 1,
        expires_at: null,
        rollout_bytes: null,
      })
      .execute();
    const bundle = await createDebugBundle(session.id, {
      database,
      runner: { status: { state: "running", appServers: [] } } as never,
      sources: {
        stderr: { read: async () => Promise.resolve(`It is ${answer}`) } as never,
        environment: {},
        codexHome: "/no/codex-home",
        options: { roots: [], sharedRoots: {} },
        secrets: [],
      },
      version: "0.0.0",
      nodeName: "here",
    });
    expect(JSON.stringify(bundle)).not.toContain("secret-of");
  });
});
