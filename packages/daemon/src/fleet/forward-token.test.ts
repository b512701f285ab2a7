import { STORE_KINDS } from "@codexkit/store/testing";
import { base64url, SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { SCOPES } from "../api/route.ts";
import type { Identity } from "../api/token.ts";
import type { Database } from "../database.ts";
import { useDatabases } from "../../test/database-fixture.ts";
import { readFleetKey } from "./fleet-key.ts";
import { ForwardTokens } from "./forward-token.ts";

const REQUEST = { method: "GET", path: "/sessions/s/files?path=a" };
const CALLER: Identity = { id: "token", name: "ci", scopes: ["read"], tenant: "default" };
const WAY = { from: "source", to: "target", identity: CALLER };

function open(database: Database, proxyTokenMs = 60_000): ForwardTokens {
  return new ForwardTokens(database.store, { proxyTokenMs });
}

describe.each(STORE_KINDS)("on %s", (kind) => {
  const databases = useDatabases(kind);

  test("a token is valid for one request of one caller, at one node", async () => {
    await using database = await databases.open();
    const tokens = open(database);
    const token = await tokens.sign(REQUEST, WAY);
    expect(await tokens.verify(token, REQUEST, "another")).toBeUndefined();
    expect(await tokens.verify(token, { ...REQUEST, method: "PUT" }, "target")).toBeUndefined();
    expect(
      await tokens.verify(token, { ...REQUEST, path: "/sessions/s/files?path=b" }, "target"),
    ).toBeUndefined();
    expect(await tokens.verify(token, REQUEST, "target")).toEqual(CALLER);
    expect(await tokens.verify(token, REQUEST, "target")).toBeUndefined();
  });

  test("all nodes use the same key, also if they create it concurrently", async () => {
    await using first = await databases.open();
    const keys = await Promise.all(Array.from({ length: 20 }, async () => readFleetKey(first.store)));
    const secrets = new Set(keys.map(({ secret }) => Buffer.from(secret).toString("hex")));
    expect(secrets.size).toBe(1);
    expect([...secrets][0]).toHaveLength(64);
  });

  test("tokens of a deleted key are invalid, and a new key is created", async () => {
    await using database = await databases.open();
    const [source, target] = [open(database), open(database)];
    const old = await source.sign(REQUEST, WAY);
    await database.store.db.deleteFrom("fleet_key").execute();
    expect(await target.verify(old, REQUEST, "target")).toBeUndefined();
    expect(await target.verify(await source.sign(REQUEST, WAY), REQUEST, "target")).toEqual(CALLER);
  });

  test("a token expires by the store's clock", async () => {
    await using database = await databases.open();
    const { secret, now } = await readFleetKey(database.store);
    const signedAt = (seconds: number): SignJWT =>
      new SignJWT({ request: requestHash, identity: CALLER })
        .setIssuer("source")
        .setAudience("target")
        .setJti(`jti-${seconds}`)
        .setIssuedAt(Math.floor(now.getTime() / 1000) + seconds)
        .setExpirationTime(Math.floor(now.getTime() / 1000) + seconds + 60)
        .setProtectedHeader({ alg: "HS256", typ: "codexkit-forward+jwt" });
    const tokens = open(database);
    const requestHash = hashIn(await tokens.sign(REQUEST, WAY));
    const verify = async (seconds: number) =>
      tokens.verify(await signedAt(seconds).sign(secret), REQUEST, "target");
    expect(await verify(-10)).toEqual(CALLER);
    expect(await verify(-3600)).toBeUndefined();
    expect(await verify(3600)).toBeUndefined();
  });

  test("forged tokens are refused: no signature, another key, algorithm or type, more scopes", async () => {
    await using database = await databases.open();
    const tokens = open(database);
    const { secret } = await readFleetKey(database.store);
    const good = await tokens.sign(REQUEST, WAY);
    const [header = "", payload = "", signature = ""] = good.split(".");
    const json = (value: unknown): string => base64url.encode(JSON.stringify(value));
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
    const signed = async (change: object, protectedHeader: object, key = secret): Promise<string> =>
      new SignJWT({ ...claims, jti: "new", ...change })
        .setProtectedHeader({ alg: "HS256", typ: "codexkit-forward+jwt", ...protectedHeader })
        .sign(key);
    const forged = [
      "",
      "a.b.c",
      `${json({ alg: "none", typ: "codexkit-forward+jwt" })}.${payload}.`,
      `${header}.${json({ ...claims, identity: { ...CALLER, scopes: [...SCOPES] } })}.${signature}`,
      `${header}.${payload}.`,
      await signed({}, {}, Buffer.alloc(32)),
      await signed({}, { alg: "HS512" }, Buffer.concat([secret, secret])),
      await signed({}, { alg: "HS512" }),
      await signed({}, { typ: "JWT" }),
      await signed({ identity: { ...CALLER, scopes: ["root"] } }, {}),
      await signed({ exp: undefined }, {}),
      await signed({ jti: undefined }, {}),
      await signed({ aud: ["target", "another"], more: 1 }, {}),
      "x".repeat(100_000),
    ];
    for (const token of forged) expect(await tokens.verify(token, REQUEST, "target")).toBeUndefined();
    expect(await tokens.verify(await signed({}, {}), REQUEST, "target")).toEqual(CALLER);
    expect(await tokens.verify(good, REQUEST, "target")).toEqual(CALLER);
  });
});

function hashIn(token: string): string {
  const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString();
  return (JSON.parse(payload) as { request: string }).request;
}
