import { type ListenAddress, parseListenAddress } from "@codexkit/rpc";
import { InvalidArgumentError } from "commander";

const MULTIPLIERS: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6, g: 1e9 };
const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3 };

/** The longest delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Parses `200k`, `1.5M` or `200000` tokens. */
export function parseTokenCount(text: string): number {
  const [, digits = "", suffix = ""] = /^(\d+(?:\.\d+)?)([kmg]?)$/i.exec(text.trim()) ?? [];
  const count = Number(digits) * (MULTIPLIERS[suffix.toLowerCase()] ?? 0);
  if (digits === "" || !Number.isSafeInteger(count) || count === 0) {
    throw new InvalidArgumentError("Expected a number of tokens such as 200k, 1.5M or 50000.");
  }
  return count;
}

/** Parses `90s`, `10m` or `1h30m` to milliseconds. */
export function parseDuration(text: string): number {
  return parseTime(text, MAX_TIMER_MS, "90s, 10m or 1h30m, at most 24d");
}

/** Parses how long a token is valid. No timer waits for its end, so it may exceed the longest timer. */
export function parseLifetime(text: string): number {
  return parseTime(text, 3650 * 86_400e3, "12h, 7d or 90d, at most 3650d");
}

/** Parses how long a login link is valid. The daemon accepts at most an hour. */
export function parseLinkLifetime(text: string): number {
  return parseTime(text, 3600e3, "90s or 10m, at most 1h");
}

/** Parses the URL at which other nodes reach a daemon. */
export function parseNodeUrlOption(text: string): string {
  if (!/^https?:\/\/[^\s\\/?#@]+\/?$/i.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError(
      "Expected an http or https URL without credentials, path and query, such as http://10.0.0.7:4100.",
    );
  }
  return text;
}

function parseTime(text: string, max: number, expected: string): number {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)([smhd])/gi)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join("") === text.trim();
  const ms = parts.reduce(
    (sum, [, digits, unit = ""]) => sum + Number(digits) * (UNIT_MS[unit.toLowerCase()] ?? 0),
    0,
  );
  if (!isWhole || ms < 1 || ms > max) {
    throw new InvalidArgumentError(`Expected a duration such as ${expected}.`);
  }
  return Math.round(ms);
}

/** Parses `4100`, `:4100`, `127.0.0.1:4100` or `[::1]:4100`. */
export function parseListen(text: string): ListenAddress {
  const address = parseListenAddress(text);
  if (!address) throw new InvalidArgumentError("Expected HOST:PORT, such as 127.0.0.1:4100 or [::1]:4100.");
  return address;
}

/** Collects the values of a repeatable option. */
export function collectValues(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
}

/** Parses `LABEL=FOLDER`. The option can be repeated, with a different label each time. */
export function collectSharedRoots(
  text: string,
  previous: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, label = "", folder = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (label === "") throw new InvalidArgumentError("Expected LABEL=FOLDER, such as projects=/srv/projects.");
  if (Object.hasOwn(previous, label)) {
    throw new InvalidArgumentError(`The label ${label} already has a folder.`);
  }
  return { ...previous, [label]: folder };
}

const SCOPES = ["read", "write", "approve", "admin"] as const;
type ScopeName = (typeof SCOPES)[number];

/** Parses `read,approve`. The option can also be repeated. */
export function collectScopes(text: string, previous: readonly ScopeName[] = []): readonly ScopeName[] {
  const names = text.split(",").map((name) => name.trim());
  const isScope = (name: string): name is ScopeName => (SCOPES as readonly string[]).includes(name);
  if (!names.every(isScope)) throw new InvalidArgumentError(`Expected one or more of ${SCOPES.join(", ")}.`);
  return [...new Set([...previous, ...names])];
}

/** Parses a positive integer. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count === 0 || !Number.isSafeInteger(count)) {
    throw new InvalidArgumentError("Expected a positive whole number.");
  }
  return count;
}
