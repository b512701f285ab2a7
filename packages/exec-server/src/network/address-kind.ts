import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { spellingsOf } from "./address-spelling.ts";

/** Ranges outside the public internet: this machine, its local networks, and unassigned addresses. */
const NOT_PUBLIC_V4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;

// Only 2000::/3 is assigned to the public internet. In it, 6to4 and Teredo addresses contain an IPv4 address
// that could be any.
const NOT_PUBLIC_V6 = [
  ["::", 3],
  ["4000::", 2],
  ["8000::", 1],
  ["2001::", 32],
  ["2001:db8::", 32],
  ["2002::", 16],
] as const;

// One list per family: in a shared list, an IPv4 address would match the IPv6 address that it maps to.
const notPublic = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const [network, bits] of NOT_PUBLIC_V4) notPublic.ipv4.addSubnet(network, bits, "ipv4");
for (const [network, bits] of NOT_PUBLIC_V6) notPublic.ipv6.addSubnet(network, bits, "ipv6");

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether an address belongs to the public internet. False for text that is not an address. */
export function isPublic(address: string): boolean {
  const family = familyOf(address);
  return family !== undefined && !notPublic[family].check(address, family);
}

export function isLoopback(address: string): boolean {
  const family = familyOf(address);
  return family !== undefined && loopback.check(address, family);
}

/** Whether a connection to this address stays on this machine. */
export function isThisMachine(address: string): boolean {
  const spellings = spellingsOf(address);
  if (spellings.some((spelling) => spelling === "::" || isLoopback(spelling) || isUnspecified(spelling)))
    return true;
  const own = new Set(
    Object.values(networkInterfaces()).flatMap(
      (list) => list?.flatMap((each) => spellingsOf(each.address)) ?? [],
    ),
  );
  return spellings.some((spelling) => own.has(spelling));
}

/** Connecting to an unspecified address connects to the machine itself. */
function isUnspecified(address: string): boolean {
  return isIP(address) === 4 && address.startsWith("0.");
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const family = isIP(address);
  return family === 0 ? undefined : family === 4 ? "ipv4" : "ipv6";
}
