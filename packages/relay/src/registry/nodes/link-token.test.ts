import { randomBytes } from "node:crypto";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { LinkTokenVerifier, signLinkToken } from "./link-token.ts";

const secret = randomBytes(32);
const identity = {
  grantId: "g",
  environmentId: "e",
  registrationId: "r",
  tokenId: "t",
  harnessKeyHash: "k",
};

test("a node's token is valid for one connection to one other node", async () => {
  const token = await signLinkToken(secret, "node-1", identity);
  const verifier = new LinkTokenVerifier(secret, "node-1");
  expect(await new LinkTokenVerifier(secret, "node-2").verify(token)).toBeUndefined();
  expect(await new LinkTokenVerifier(randomBytes(32), "node-1").verify(token)).toBeUndefined();
  expect(await verifier.verify(token)).toEqual(identity);
  expect(await verifier.verify(token)).toBeUndefined();
});

test("a token that is expired or unsigned, lacks a claim or has an additional one is refused", async () => {
  const verifier = new LinkTokenVerifier(secret, "n");
  const now = Math.floor(Date.now() / 1000);
  const sign = (claims: object, expires: number | undefined, id: string | undefined = "id") => {
    const jwt = new SignJWT({ ...claims })
      .setProtectedHeader({ alg: "HS256" })
      .setAudience("node:n")
      .setJti(id);
    return (expires === undefined ? jwt : jwt.setExpirationTime(expires)).sign(secret);
  };
  expect(await verifier.verify(await sign(identity, now - 3600))).toBeUndefined();
  expect(await verifier.verify(await sign(identity, undefined))).toBeUndefined();
  expect(await verifier.verify(await sign({ ...identity, role: "admin" }, now + 30))).toBeUndefined();
  expect(await verifier.verify(await sign({ grantId: "g" }, now + 30))).toBeUndefined();
  const [, payload] = (await sign(identity, now + 30)).split(".");
  const none = Buffer.from('{"alg":"none"}').toString("base64url");
  expect(await verifier.verify(`${none}.${payload}.`)).toBeUndefined();
  for (const text of ["", "x", "a.b.c"]) expect(await verifier.verify(text)).toBeUndefined();
  expect(await verifier.verify(await sign(identity, now + 30))).toEqual(identity);
});
