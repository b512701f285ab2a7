import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, it } from "vitest";
import { NODE, useDatabases } from "../../test/database-fixture.ts";

describe.each(STORE_KINDS)("tokens on %s", (kind) => {
  const databases = useDatabases(kind);

  it("are verified until they are revoked or expire, and stored as a hash only", async () => {
    await using database = await databases.open();
    const { tokens } = database;
    expect(await tokens.hasAny()).toBe(false);
    const { token, info } = await tokens.create({ name: "laptop", scopes: ["read", "write"], by: "setup" });
    expect(await tokens.hasAny()).toBe(true);
    const expired = await tokens.create({ name: "old", scopes: ["admin"], expiresAt: 1, by: "setup" });
    expect(await tokens.verify(token)).toMatchObject({
      id: info.id,
      name: "laptop",
      scopes: ["read", "write"],
      last_used_at: expect.any(Number),
    });
    expect(await tokens.verify(expired.token)).toBeUndefined();
    for (const wrong of ["", "x", token.slice(0, -1), `${token}x`, info.id]) {
      expect(await tokens.verify(wrong)).toBeUndefined();
    }
    const rows = await database.store.db.selectFrom("token").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(JSON.stringify(await tokens.list())).not.toContain(rows[0]?.hash);
    expect(await tokens.revoke(info.id, "admin")).toBe(true);
    expect(await tokens.revoke(info.id, "admin")).toBe(false);
    expect(await tokens.revoke("unknown", "admin")).toBe(false);
    expect(await tokens.verify(token)).toBeUndefined();
    expect(await tokens.list()).toMatchObject([{ revoked_at: expect.any(Number) }, { revoked_at: null }]);
    const { rows: audit } = await database.audit.list();
    expect(audit.map(({ action, by }) => [action, by])).toEqual([
      ["token.revoked", "admin"],
      ["token.created", "setup"],
      ["token.created", "setup"],
    ]);
    expect(JSON.stringify(audit)).not.toContain(token);
  });

  it("report their end to all watchers once, by revocation or by time", async () => {
    await using database = await databases.open();
    const { tokens } = database;
    const create = async (expiresAt?: number) =>
      (await tokens.create({ name: "t", scopes: ["read"], by: "x", ...(expiresAt && { expiresAt }) })).info
        .id;
    const ended: string[] = [];
    const watch = async (id: string, name: string) =>
      new Promise<void>((resolve) => {
        tokens.watch(id, () => {
          ended.push(name);
          resolve();
        });
      });
    const id = await create();
    const watches = [watch(id, "first"), watch(id, "second"), watch(await create(1), "expired")];
    tokens.watch(id, () => ended.push("disposed"))[Symbol.dispose]();
    using _other = tokens.watch(await create(), () => ended.push("other"));
    await watches[2];
    expect(ended).toEqual(["expired"]);
    await tokens.revoke(id, "admin");
    await Promise.all(watches);
    expect(ended).toEqual(["expired", "first", "second"]);
    await watch(id, "late");
  });

  it("leave a trail in pages, and app-servers are remembered per node", async () => {
    await using database = await databases.open();
    for (const action of ["a", "b", "c"]) await database.audit.record({ by: "x", action, sessionId: "s" });
    await database.audit.record({ by: "x", action: "other", detail: { reason: "none" } });
    const page = await database.audit.list({ sessionId: "s", limit: 2 });
    const rest = await database.audit.list({ sessionId: "s", limit: 2, cursor: page.nextCursor ?? "" });
    expect([...page.rows, ...rest.rows].map(({ action }) => action)).toEqual(["c", "b", "a"]);

    const server = {
      id: "1",
      node_name: NODE.name,
      url: "unix:///run/x",
      pid: 1,
      codex_home: "/home",
      session_id: null,
    };
    await database.appServers.put(server);
    await database.appServers.put({ ...server, pid: 2 });
    expect(await database.appServers.list(NODE.name)).toMatchObject([{ id: "1", pid: 2 }]);
    expect(await database.appServers.list("other")).toEqual([]);
    await database.appServers.remove("1");
    expect(await database.appServers.list(NODE.name)).toEqual([]);
  });
});
