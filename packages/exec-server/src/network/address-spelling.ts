import { isIP } from "node:net";

/**
 * Networks whose addresses contain an IPv4 address: their prefix, and the position of the IPv4 address in
 * groups of 16 bits.
 */
const CARRIERS: readonly { readonly prefix: readonly number[]; readonly at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 }, // mapped, ::ffff:0:0/96
  { prefix: [0, 0, 0, 0, 0xffff, 0], at: 6 }, // translated, ::ffff:0:0:0/96
  { prefix: [0, 0, 0, 0, 0, 0], at: 6 }, // compatible, ::/96
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 }, // NAT64, 64:ff9b::/96
  { prefix: [0x2002], at: 1 }, // 6to4, 2002::/16
];

/**
 * Returns the canonical form of an address and of an IPv4 address that it contains: `::ffff:7f00:1` is also
 * `127.0.0.1`.
 */
export function spellingsOf(address: string): readonly string[] {
  // A zone names an interface, not a different address.
  const plain = address.replace(/%.*$/, "");
  const groups = isIP(plain) === 6 ? groupsOf(plain) : undefined;
  if (!groups) return [plain];
  const carrier = CARRIERS.find(({ prefix }) => prefix.every((group, index) => groups[index] === group));
  const usual = canonicalIpv6(plain);
  if (!carrier) return [usual];
  const [high = 0, low = 0] = groups.slice(carrier.at);
  return [usual, [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".")];
}

function canonicalIpv6(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

function groupsOf(address: string): readonly number[] {
  const [before = "", after] = canonicalIpv6(address).split("::");
  const numbers = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  if (after === undefined) return numbers(before);
  const [left, right] = [numbers(before), numbers(after)];
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}
