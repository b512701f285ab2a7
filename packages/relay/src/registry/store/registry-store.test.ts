import { randomUUID } from "node:crypto";
import { STORE_KINDS, TestLocations } from "@codexkit/store/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRegistryStore, type RegistryStore } from "./registry-store.ts";

const LEASE_MS = 60_000;
const MINUTE = 60_000;

describe.each(STORE_KINDS)("a registry on %s", (kind) => {
  let locations: TestLocations;
  let store: RegistryStore;
  const nodeId = randomUUID();
  let executeToken: string;
  let connectToken: string;

  beforeAll(async () => {
    locations = await TestLocations.start(kind);
    store = await openRegistryStore({
      location: await locations.create(),
      leaseMs: LEASE_MS,
      onWarning: () => {},
    });
    await store.nodes.register(nodeId, "http://node");
    executeToken = (await store.tokens.create({ name: "e", scopes: ["execute"] })).info.id;
    connectToken = (await store.tokens.create({ name: "c", scopes: ["connect"] })).info.id;
  }, 60_000);
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await locations[Symbol.asyncDispose]();
  });

  const register = async (environmentId: string, publicKey: string = randomUUID(), ticketMs = MINUTE) => {
    const registered = await store.registrations.register({
      environmentId,
      tokenId: executeToken,
      publicKey,
      ticketMs,
      limit: 2,
    });
    if (!registered) throw new Error("The limit is reached.");
    return registered;
  };

  test("verifies tokens until they are revoked or expire, and stores only hashes", async () => {
    const { tokens } = store;
    const { token, info } = await tokens.create({ name: "box", scopes: ["execute"], environmentId: "box" });
    const expired = await tokens.create({ name: "old", scopes: ["connect"], validForMs: -1 });
    expect(await tokens.verify(token)).toMatchObject({
      id: info.id,
      scopes: ["execute"],
      environmentId: "box",
    });
    expect(await tokens.verify(expired.token)).toBeUndefined();
    for (const wrong of ["", "x", `${token}x`, token.slice(0, -1), info.id]) {
      expect(await tokens.verify(wrong)).toBeUndefined();
    }
    expect(JSON.stringify(await store.store.db.selectFrom("token").selectAll().execute())).not.toContain(
      token,
    );
    expect(await tokens.valid([info.id, expired.info.id, "unknown"])).toEqual(new Set([info.id]));
    expect([await tokens.revoke(info.id), await tokens.revoke(info.id), await tokens.revoke("x")]).toEqual([
      true,
      false,
      false,
    ]);
    expect(await tokens.verify(token)).toBeUndefined();
  });

  test("a token with a higher epoch replaces those with lower epochs of its environment and subject", async () => {
    const { tokens, grants } = store;
    const create = (epoch: number, environmentId = "epochs", subject = "s") =>
      tokens.create({ name: "h", scopes: ["connect"], environmentId, claim: { subject, epoch } });
    const first = await create(1);
    const others = [await create(1, "elsewhere"), await create(1, "epochs", "other"), await create(1)];
    const granted = await grants.create({
      environmentId: "epochs",
      registrationId: "r",
      tokenId: first.info.id,
      harnessKeyHash: "k",
      validForMs: MINUTE,
    });
    const check = () =>
      grants.check({
        ...granted,
        environmentId: "epochs",
        registrationId: "r",
        harnessKeyHash: "k",
        streamId: "1",
      });
    expect(await check()).toEqual({ claim: { subject: "s", epoch: 1 } });
    const second = await create(Number.MAX_SAFE_INTEGER);
    expect(second.info).toMatchObject({
      claim: { subject: "s", epoch: Number.MAX_SAFE_INTEGER },
      replacedBy: null,
    });
    expect(await check()).toBeUndefined();
    expect(await grants.useTicket(granted.ticket)).toBeUndefined();
    expect(await tokens.verify(first.token)).toMatchObject({ replacedBy: Number.MAX_SAFE_INTEGER });
    const ids = [first, second, ...others].map(({ info }) => info.id);
    expect(await tokens.valid(ids)).toEqual(
      new Set([second, others[0], others[1]].map((each) => each?.info.id)),
    );
    await expect(create(1)).rejects.toMatchObject({ code: "replaced" });
    // A revoked token still counts: its successor must not become valid again.
    await tokens.revoke(second.info.id);
    expect(await tokens.valid(ids)).not.toContain(first.info.id);
    await tokens.removeReplaced();
    expect(await tokens.verify(first.token)).toMatchObject({ replacedBy: Number.MAX_SAFE_INTEGER });
  });

  test("of tokens that are created concurrently, those with the highest epoch are valid", async () => {
    const epochs = [3, 1, 4, 1, 5, 2, 5];
    const attempts = await Promise.allSettled(
      epochs.map((epoch) =>
        store.tokens.create({
          name: "h",
          scopes: ["connect"],
          environmentId: "race",
          claim: { subject: "s", epoch },
        }),
      ),
    );
    const created = attempts.flatMap((attempt) =>
      attempt.status === "fulfilled" ? [attempt.value.info] : [],
    );
    const valid = await store.tokens.valid(created.map(({ id }) => id));
    const highest = created.filter(({ claim }) => claim?.epoch === 5);
    expect(highest).toHaveLength(2);
    expect(valid).toEqual(new Set(highest.map(({ id }) => id)));
  });

  test("a token with an epoch is for harnesses of one environment only", async () => {
    const claim = { subject: "s", epoch: 1 };
    for (const wrong of [
      { scopes: ["connect"], environmentId: undefined },
      { scopes: ["connect", "admin"], environmentId: "box" },
    ] as const) {
      const created = store.tokens.create({ name: "h", ...wrong, claim });
      await expect(created).rejects.toMatchObject({ code: "bad_option" });
    }
    for (const epoch of [-1, 1.5, 2 ** 53, Number.NaN, "1"]) {
      const created = store.tokens.create({
        name: "h",
        scopes: ["connect"],
        environmentId: "box",
        claim: { subject: "s", epoch: epoch as number },
      });
      await expect(created).rejects.toMatchObject({ code: "bad_option" });
    }
  });

  test("finds the newest executor that is connected", async () => {
    const { registrations } = store;
    const first = await register("newest");
    const second = await register("newest");
    expect(await registrations.findOnline("newest")).toBeUndefined();
    await registrations.attach(first.id, nodeId, "connection-1");
    expect(await registrations.findOnline("newest")).toMatchObject({
      id: first.id,
      nodeId,
      nodeUrl: "http://node",
    });
    await registrations.attach(second.id, nodeId, "connection-2");
    expect((await registrations.findOnline("newest"))?.id).toBe(second.id);
    expect(await registrations.findOnline("other")).toBeUndefined();
    await registrations.detach(second.id, "an older connection");
    expect((await registrations.findOnline("newest"))?.id).toBe(second.id);
    await registrations.detach(second.id, "connection-2");
    expect((await registrations.findOnline("newest"))?.id).toBe(first.id);
    expect(await registrations.locate(second.id)).toBeUndefined();
  });

  test("orders registrations of the same millisecond", async () => {
    for (let round = 0; round < 20; round += 1) {
      const environmentId = `same-${round}`;
      const [first, second] = [await register(environmentId), await register(environmentId)];
      for (const { id } of [second, first]) await store.registrations.attach(id, nodeId, randomUUID());
      expect((await store.registrations.findOnline(environmentId))?.id).toBe(second.id);
    }
  });

  test("counts executors of nodes that have died as offline", async () => {
    const dying = randomUUID();
    await store.nodes.renew(dying, "http://dying");
    const { id } = await register("dying");
    await store.registrations.attach(id, dying, "connection-3");
    expect((await store.registrations.locate(id))?.nodeUrl).toBe("http://dying");
    expect(await store.nodes.alive()).toEqual(new Set([nodeId, dying]));
    await store.nodes.retire(dying);
    expect(await store.registrations.locate(id)).toBeUndefined();
    expect(await store.nodes.alive()).toEqual(new Set([nodeId]));
    const environments = await store.registrations.listEnvironments();
    expect(environments.find(({ environmentId }) => environmentId === "dying")).toMatchObject({ online: 0 });
  });

  test("detects replaced sockets", async () => {
    const { id } = await register("replaced");
    await store.registrations.attach(id, nodeId, "old-socket");
    await store.registrations.attach(id, nodeId, "new-socket");
    const current = await store.registrations.current(nodeId);
    expect([current.has("old-socket"), current.has("new-socket")]).toEqual([false, true]);
  });

  test("renews the ticket of an executor that registers again, and limits connected ones", async () => {
    const first = await register("renewed", "key");
    const again = await register("renewed", "key");
    expect(again.id).toBe(first.id);
    expect(await store.registrations.findByTicket(first.ticket)).toBeUndefined();
    expect(await store.registrations.findByTicket(again.ticket)).toMatchObject({ id: first.id });
    const second = await register("renewed");
    await store.registrations.attach(first.id, nodeId, "renewed-1");
    await store.registrations.attach(second.id, nodeId, "renewed-2");
    await expect(register("renewed")).rejects.toThrow("limit");
    expect((await register("renewed", "key")).id).toBe(first.id);
  });

  test("removes expired rows, but no connected executor", async () => {
    const connected = await register("stale", "connected", -1);
    const offline = await register("stale", "offline", -1);
    await store.registrations.attach(connected.id, nodeId, "stale-1");
    await store.registrations.removeStale();
    expect((await store.registrations.locate(connected.id))?.id).toBe(connected.id);
    const rows = await store.store.db
      .selectFrom("registration")
      .select("id")
      .where("id", "=", offline.id)
      .execute();
    expect(rows).toEqual([]);
  });

  describe("authorises a harness", () => {
    const grant = async (validForMs = MINUTE, tokenId = connectToken) =>
      store.grants.create({
        environmentId: "env",
        registrationId: "registration",
        tokenId,
        harnessKeyHash: "key",
        validForMs,
      });
    const check = async (authorization: string, changes: object = {}) =>
      store.grants.check({
        environmentId: "env",
        registrationId: "registration",
        harnessKeyHash: "key",
        streamId: "stream",
        authorization,
        ...changes,
      });

    test("for one environment, registration, key and stream", async () => {
      const { authorization, ticket } = await grant();
      for (const other of [
        { environmentId: "x" },
        { registrationId: "x" },
        { harnessKeyHash: "x" },
        { authorization: ticket },
        { authorization: "" },
      ]) {
        expect(await check(authorization, other)).toBeUndefined();
      }
      expect(await check(authorization)).toEqual({ claim: undefined });
      expect(await check(authorization)).toEqual({ claim: undefined });
      expect(await check(authorization, { streamId: "another" })).toBeUndefined();
      expect(await check(authorization, { streamId: "" })).toBeUndefined();
    });

    test("until the authorisation expires or the token is revoked", async () => {
      const expired = await grant(-1);
      expect(await check(expired.authorization)).toBeUndefined();
      expect(await store.grants.useTicket(expired.ticket)).toBeUndefined();
      const { info } = await store.tokens.create({ name: "r", scopes: ["connect"] });
      const revoked = await grant(MINUTE, info.id);
      await store.tokens.revoke(info.id);
      expect(await check(revoked.authorization)).toBeUndefined();
      expect(await store.grants.useTicket(revoked.ticket)).toBeUndefined();
      await store.grants.removeExpired();
      const rows = await store.store.db.selectFrom("connection_grant").select("id").execute();
      expect(rows.map(({ id }) => id)).not.toContain(expired.id);
      expect(rows.map(({ id }) => id)).toContain(revoked.id);
    });

    test("to connect once, also if many try concurrently", async () => {
      const { ticket } = await grant();
      const used = await Promise.all(Array.from({ length: 8 }, () => store.grants.useTicket(ticket)));
      expect(used.filter((value) => value !== undefined)).toHaveLength(1);
    });
  });

  test("has one secret for links between nodes", async () => {
    const [first, second] = await Promise.all([store.nodes.linkSecret(), store.nodes.linkSecret()]);
    expect(first).toHaveLength(32);
    expect(second).toEqual(first);
  });

  test("keeps a limited number of registrations per environment, and all connected ones", async () => {
    const connected = await register("filled");
    await store.registrations.attach(connected.id, nodeId, "filled-1");
    for (let executor = 0; executor < 100; executor++) await register("filled");
    const last = await register("filled");
    const { db } = store.store;
    const rows = await db
      .selectFrom("registration")
      .select("id")
      .where("environment_id", "=", "filled")
      .execute();
    expect(rows.length).toBeLessThanOrEqual(65);
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining([connected.id, last.id]));
    expect(await store.registrations.findByTicket(last.ticket)).toMatchObject({ id: last.id });
  });

  test("validates more tokens than a query can have parameters", async () => {
    const ids = Array.from({ length: 70_000 }, () => randomUUID());
    expect(await store.tokens.valid([...ids, connectToken])).toEqual(new Set([connectToken]));
  });
});
