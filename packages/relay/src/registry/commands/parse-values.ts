import { type ListenAddress, parseListenAddress } from "@codexkit/rpc";
import { InvalidArgumentError } from "commander";
import { REGISTRY_LIMITS, type RegistryLimits } from "../limits.ts";
import { REGISTRY_SCOPES, type RegistryScope } from "../store/token-store.ts";

const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3 };

/** `90s`, `12h` or `30d`, in milliseconds. */
export function parseDuration(text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text.trim()) ?? [];
  const ms = Number(digits) * (UNIT_MS[unit] ?? 0);
  if (ms === 0) throw new InvalidArgumentError("Expected a duration such as 90s, 12h or 30d.");
  return ms;
}

/** A non-negative safe integer. */
export function parseEpoch(text: string): number {
  const epoch = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(epoch)) {
    throw new InvalidArgumentError("Expected an integer from 0 to 9007199254740991.");
  }
  return epoch;
}

/** `4400`, `:4400`, `127.0.0.1:4400` or `[::1]:4400`. */
export function parseListen(text: string): ListenAddress {
  const address = parseListenAddress(text);
  if (!address) throw new InvalidArgumentError("Expected HOST:PORT, such as 127.0.0.1:4400 or [::1]:4400.");
  return address;
}

/** `execute,connect`; the option can also be repeated. */
export function collectScopes(
  text: string,
  previous: readonly RegistryScope[] = [],
): readonly RegistryScope[] {
  const names = text.split(",").map((name) => name.trim());
  const isScope = (name: string): name is RegistryScope =>
    (REGISTRY_SCOPES as readonly string[]).includes(name);
  if (!names.every(isScope)) {
    throw new InvalidArgumentError(`Expected some of ${REGISTRY_SCOPES.join(", ")}.`);
  }
  return [...new Set([...previous, ...names])];
}

/** `bytesPerSecond=1000000`; the option can be repeated. */
export function collectLimits(text: string, previous: Partial<RegistryLimits> = {}): Partial<RegistryLimits> {
  const [name = "", value = ""] = text.split("=", 2);
  const amount = Number(value);
  if (!Object.hasOwn(REGISTRY_LIMITS, name)) {
    throw new InvalidArgumentError(`Expected one of ${Object.keys(REGISTRY_LIMITS).join(", ")}.`);
  }
  if (value === "" || !(amount > 0)) {
    throw new InvalidArgumentError(`Expected ${name}=NUMBER, such as ${name}=1000.`);
  }
  return { ...previous, [name]: amount };
}
