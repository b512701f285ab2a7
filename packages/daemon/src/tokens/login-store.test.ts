import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, it } from "vitest";
import { useDatabases } from "../../test/database-fixture.ts";

const MINUTE = 60_000;

describe.each(STORE_KINDS)("logins on %s", (kind) => {
  const databases = useDatabases(kind);

  it("are made from a code once, and the code is stored as a hash only", async () => {
    await using database = await databases.open();
    const { tokens, logins, store } = database;
    const { info } = await tokens.create({ name: "laptop", scopes: ["read", "write"], by: "setup" });
    const { code, scopes } = await logins.createCode(info.id, { expiresInMs: MINUTE });
    expect(scopes).toEqual(["read", "write"]);
    const rows = await store.db.selectFrom("login_code").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(code);

    const results = await Promise.allSettled(
      Array.from({ length: 5 }, async () => logins.redeemCode(code, "phone")),
    );
    const won = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const lost = results.flatMap((result) =>
      result.status === "rejected" ? [result.reason as unknown] : [],
    );
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array.from({ length: 4 }, () => expect.objectContaining({ code: "unauthorized" })));
    expect(await tokens.verify(won[0]?.token ?? "")).toMatchObject({
      name: "laptop (phone)",
      scopes: ["read", "write"],
      parent_id: info.id,
      expires_at: expect.any(Number),
    });
    expect(await store.db.selectFrom("login_code").selectAll().execute()).toEqual([]);
  });

  it("have no scope that their token lacks, and don't outlive it", async () => {
    await using database = await databases.open();
    const { tokens, logins } = database;
    const expiresAt = Date.now() + 24 * 60 * MINUTE;
    const { info } = await tokens.create({ name: "t", scopes: ["read", "approve"], expiresAt, by: "x" });
    await expect(
      logins.createCode(info.id, { scopes: ["read", "admin"], expiresInMs: MINUTE }),
    ).rejects.toMatchObject({ code: "forbidden", message: expect.stringContaining("lacks: admin") });
    const { code } = await logins.createCode(info.id, { scopes: ["read"], expiresInMs: MINUTE });
    const login = await logins.redeemCode(code);
    expect(login.info).toMatchObject({ name: "t (browser)", scopes: ["read"], expires_at: expiresAt });
    // A login can't grant more scopes than it has.
    await expect(
      logins.createCode(login.info.id, { scopes: ["approve"], expiresInMs: MINUTE }),
    ).rejects.toMatchObject({ code: "forbidden" });
  });

  it("end with their token, with its codes and with the logins made from them, and each alone", async () => {
    await using database = await databases.open();
    const { tokens, logins } = database;
    const { info } = await tokens.create({ name: "t", scopes: ["read"], by: "x" });
    const laptop = await logins.create(info.id, { device: "laptop" });
    const { code } = await logins.createCode(laptop.info.id, { expiresInMs: MINUTE });
    const phone = await logins.redeemCode(code, "phone");
    expect(phone.info).toMatchObject({ name: "t (phone)", parent_id: info.id });

    expect(await tokens.revoke(laptop.info.id, "x")).toBe(true);
    expect(await tokens.verify(laptop.token)).toBeUndefined();
    expect(await tokens.verify(phone.token)).toBeDefined();
    await expect(logins.createCode(laptop.info.id, { expiresInMs: MINUTE })).rejects.toMatchObject({
      code: "unauthorized",
    });

    const unused = await logins.createCode(info.id, { expiresInMs: MINUTE });
    const ended = new Promise<void>((resolve) => void tokens.watch(phone.info.id, resolve));
    expect(await tokens.revoke(info.id, "x")).toBe(true);
    await ended;
    expect(await tokens.verify(phone.token)).toBeUndefined();
    await expect(logins.redeemCode(unused.code)).rejects.toMatchObject({ code: "unauthorized" });
    await expect(logins.create(info.id)).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("are refused for expired codes, and removed when they are no longer needed", async () => {
    await using database = await databases.open();
    const { tokens, logins, store } = database;
    const { info } = await tokens.create({ name: "t", scopes: ["read"], by: "x" });
    const { code } = await logins.createCode(info.id, { expiresInMs: -1 });
    await expect(logins.redeemCode(code)).rejects.toMatchObject({ code: "unauthorized" });
    await logins.createCode(info.id, { expiresInMs: -1 });
    const old = await logins.create(info.id);
    const current = await logins.create(info.id);
    await store.db.updateTable("token").set({ revoked_at: 1 }).where("id", "=", old.info.id).execute();
    await logins.prune();
    expect(await store.db.selectFrom("login_code").selectAll().execute()).toEqual([]);
    expect((await tokens.list()).map(({ id }) => id)).toEqual([info.id, current.info.id]);
  });
});
