import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { isPublic, isThisMachine } from "./address-kind.ts";
import { HostPolicy } from "./host-policy.ts";

describe("an address is public or not", () => {
  test.each(["1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "2a00:1450:4001::1"])(
    "%s is",
    (address) => {
      expect(isPublic(address)).toBe(true);
    },
  );

  test.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "203.0.113.9",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:8.8.8.8",
    "::ffff:7f00:1",
    "64:ff9b::7f00:1",
    "fc00::1",
    "fe80::1",
    "ff02::1",
    "2002:7f00:1::",
    "2001::1",
    "2001:db8::1",
    "not an address",
    "",
  ])("%s is not", (address) => {
    expect(isPublic(address)).toBe(false);
  });

  test("and leads to this machine or not", () => {
    const own = Object.values(networkInterfaces()).flatMap(
      (list) => list?.map(({ address }) => address) ?? [],
    );
    for (const address of [
      "127.0.0.1",
      "127.9.9.9",
      "0.0.0.0",
      "::",
      "::1",
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      ...own,
    ])
      expect([address, isThisMachine(address)]).toEqual([address, true]);
    expect(isThisMachine("1.1.1.1")).toBe(false);
  });
});

describe("a policy", () => {
  const policy = new HostPolicy({
    domains: {
      "*.example.com": "allow",
      "bad.example.com": "deny",
      "10.0.0.5": "deny",
      "none.test": "none",
      localhost: "allow",
      "192.168.0.7": "allow",
      "*.internal": "allow",
    },
    reviewDomains: ["asked.example.com"],
    allowLocalBinding: false,
  });

  test.each([
    ["www.example.com", "allowed"],
    ["example.com", "not_allowed"],
    ["bad.example.com", "denied"],
    ["asked.example.com", "not_allowed"],
    ["none.test", "not_allowed"],
    ["1.1.1.1", "not_allowed"],
    ["localhost", "allowed"],
    ["a.localhost", "not_allowed_local"],
    ["192.168.0.7", "allowed"],
    ["192.168.0.8", "not_allowed_local"],
    ["169.254.169.254", "not_allowed_local"],
    ["::1", "not_allowed_local"],
    ["10.0.0.5", "denied"],
  ])("says of %s: %s", (host, status) => {
    expect(policy.statusOf(host)).toBe(status);
  });

  test.each([
    ["www.example.com", ["1.1.1.1", "2606:4700::1111"], undefined],
    ["www.example.com", ["1.1.1.1", "127.0.0.1"], "not_allowed_local"],
    ["www.example.com", ["::ffff:127.0.0.1"], "not_allowed_local"],
    ["www.example.com", ["10.0.0.5"], "denied"],
    ["x.internal", ["192.168.0.9"], "not_allowed_local"],
    ["localhost", ["127.0.0.1", "::1"], undefined],
    ["localhost", ["192.168.0.9"], "not_allowed_local"],
    ["192.168.0.7", ["192.168.0.7"], undefined],
    ["www.example.com", [], undefined],
  ])("objects to %s at %j: %s", (host, addresses, objection) => {
    expect(policy.objection(host, addresses, 443)).toBe(objection);
  });

  test("never lets this server be reached, however its addresses are written", () => {
    const local = new HostPolicy({ domains: { "*": "allow" }, allowLocalBinding: true }, () => 4500);
    const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const addresses = [
      "0.0.0.0",
      "0.0.0.1",
      "127.0.0.1",
      "127.255.255.254",
      "::",
      "::1",
      "0:0:0:0:0:0:0:1",
      "::ffff:0:0",
      "::ffff:0.0.0.0",
      "::ffff:127.0.0.1",
      "::FFFF:7f00:1",
      "0:0:0:0:0:ffff:7f00:0001",
      "::127.0.0.1",
      "::ffff:0:127.0.0.1",
      "64:ff9b::127.0.0.1",
      "64:ff9b::7f00:1",
      "2002:7f00:1::",
      ...interfaces.map(({ address }) => address),
      ...interfaces.filter(({ family }) => family === "IPv4").map(({ address }) => `::ffff:${address}`),
      ...interfaces.filter(({ family }) => family === "IPv6").map(({ address }) => `${address}%lo`),
    ];
    for (const address of addresses) {
      expect([address, local.objection("www.example.com", [address], 4500)]).toEqual([
        address,
        "not_allowed_local",
      ]);
      expect([address, local.objection("www.example.com", [address], 80)]).toEqual([address, undefined]);
    }
  });

  test("denies an address in every spelling", () => {
    const denying = new HostPolicy({ domains: { "*": "allow", "1.2.3.4": "deny" }, allowLocalBinding: true });
    for (const address of [
      "1.2.3.4",
      "::ffff:1.2.3.4",
      "::ffff:102:304",
      "64:ff9b::102:304",
      "2002:102:304::1",
    ]) {
      expect([address, denying.statusOf(address)]).toEqual([address, "denied"]);
      expect([address, denying.objection("name.test", [address], 443)]).toEqual([address, "denied"]);
    }
  });

  test("with local binding allows what it allows anywhere, but never this server itself", () => {
    const local = new HostPolicy({ domains: { "*": "allow" }, allowLocalBinding: true }, () => 4500);
    expect(local.statusOf("127.0.0.1")).toBe("allowed");
    expect(local.objection("www.example.com", ["127.0.0.1"], 80)).toBeUndefined();
    for (const address of ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::", "::1", "::ffff:127.0.0.1"])
      expect(local.objection("www.example.com", [address], 4500)).toBe("not_allowed_local");
    expect(local.objection("www.example.com", ["1.1.1.1"], 4500)).toBeUndefined();
  });
});
