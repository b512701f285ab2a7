import { CODEX_VERSION } from "@codexkit/protocol";
import { CodexError } from "../errors.ts";

export interface VersionRule {
  /** The oldest supported release. */
  readonly minimum?: string | undefined;
  /** The release that the types were generated from. */
  readonly generated?: string | undefined;
}

export interface VersionCheck {
  /** Undefined if the user agent does not contain it. */
  readonly version: string | undefined;
  /** A warning for the user. */
  readonly warning?: string;
}

/** The version of a build from source. */
const SOURCE_BUILD = "0.0.0";

/**
 * Checks the server's version. Throws a `CodexError` with code `codex_too_old` below the minimum; warns about a release that is
 * newer than the types or unknown.
 */
export function checkVersion(userAgent: string, rule: VersionRule = {}): VersionCheck {
  const { minimum = CODEX_VERSION, generated = CODEX_VERSION } = rule;
  const version = parseServerVersion(userAgent);
  if (version === undefined) {
    return {
      version,
      warning: `Can't read Codex's version from its user agent: ${JSON.stringify(userAgent)}.`,
    };
  }
  if (version === SOURCE_BUILD) {
    return { version, warning: `This codex was built from source; codexkit supports ${generated}.` };
  }
  if (compareVersions(version, minimum) < 0) {
    throw new CodexError(
      "codex_too_old",
      `This codex is ${version}; codexkit needs ${minimum} or newer. Update it (npm install @openai/codex@latest), or point $CODEX_BIN or the codexPath option at a newer one.`,
    );
  }
  if (compareVersions(version, generated) > 0) {
    return {
      version,
      warning: `This codex is ${version}, newer than ${generated}, for which codexkit was generated: new events arrive as unknown. Update codexkit.`,
    };
  }
  return { version };
}

const VERSION = /\d+\.\d+\.\d+(?:-[\da-z-]+(?:\.[\da-z-]+)*)?(?:\+[\da-z.-]+)?/i;

/**
 * Finds the version in `<originator>/<version> (<system>) <terminal> (<originator>; <client version>)`. The originator is the
 * first client's name and can contain any text; it is recognised because it occurs twice.
 */
export function parseServerVersion(userAgent: string): string | undefined {
  const candidates = [...userAgent.matchAll(new RegExp(`/(?<version>${VERSION.source}) \\(`, "gi"))];
  const sure = candidates.find(({ index, 0: { length } }) =>
    userAgent.slice(index + length).includes(`(${userAgent.slice(0, index)}; `),
  );
  return (sure ?? candidates[0])?.groups?.["version"];
}

/** Compares versions by the rules of semver. Negative if `a` precedes `b`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  const release = compareLists(left.release, right.release);
  if (release !== 0) return release;
  if (left.prerelease.length === 0 || right.prerelease.length === 0) {
    return right.prerelease.length - left.prerelease.length;
  }
  return compareLists(left.prerelease, right.prerelease);
}

function parseVersion(version: string): { release: string[]; prerelease: string[] } {
  const [precedence = ""] = version.replace(/^v/, "").split("+");
  const dash = precedence.indexOf("-");
  const [release, prerelease] =
    dash === -1 ? [precedence, ""] : [precedence.slice(0, dash), precedence.slice(dash + 1)];
  return { release: release.split("."), prerelease: prerelease === "" ? [] : prerelease.split(".") };
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const order = compareIdentifiers(a[index], b[index]);
    if (order !== 0) return order;
  }
  return 0;
}

/** Numbers compare by value and precede words. A missing identifier comes first. */
function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  const [left, right] = [a, b].map((text) => (/^\d+$/.test(text) ? BigInt(text) : undefined));
  if (left !== undefined && right !== undefined) return left < right ? -1 : left > right ? 1 : 0;
  if (left !== undefined || right !== undefined) return left === undefined ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}
