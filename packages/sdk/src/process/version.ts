import { CODEX_VERSION } from "@codexkit/protocol";
import { CodexError } from "../errors.ts";

export interface VersionRule {
  /** The oldest release to work with. */
  readonly minimum?: string | undefined;
  /** The release that the types were generated from. */
  readonly generated?: string | undefined;
}

export interface VersionCheck {
  /** Absent when the user agent does not tell. */
  readonly version: string | undefined;
  /** What to tell the user. */
  readonly warning?: string;
}

/** A build from source calls itself this. */
const SOURCE_BUILD = "0.0.0";

/**
 * Reads the server's version from the handshake. Throws a CodexError `codex_too_old` below the minimum; warns about a
 * release that is newer than the types, and about one that can't be told.
 */
export function checkVersion(userAgent: string, rule: VersionRule = {}): VersionCheck {
  const { minimum = CODEX_VERSION, generated = CODEX_VERSION } = rule;
  const version = serverVersion(userAgent);
  if (version === undefined) {
    return {
      version,
      warning: `Can't read Codex's version from its user agent: ${JSON.stringify(userAgent)}.`,
    };
  }
  if (version === SOURCE_BUILD) {
    return { version, warning: `This codex was built from source; codexkit is made for ${generated}.` };
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
      warning: `This codex is ${version}, newer than ${generated}, which codexkit's types were made from: what is new arrives as unknown. Update codexkit when you can.`,
    };
  }
  return { version };
}

const VERSION = /\d+\.\d+\.\d+(?:-[\da-z-]+(?:\.[\da-z-]+)*)?(?:\+[\da-z.-]+)?/i;

/**
 * The version in `<originator>/<version> (<system>) <terminal> (<originator>; <client version>)`. The originator is the
 * name that the first client gave, with anything in it; that it comes twice tells it from the rest.
 */
export function serverVersion(userAgent: string): string | undefined {
  const candidates = [...userAgent.matchAll(new RegExp(`/(?<version>${VERSION.source}) \\(`, "gi"))];
  const sure = candidates.find(({ index, 0: { length } }) =>
    userAgent.slice(index + length).includes(`(${userAgent.slice(0, index)}; `),
  );
  return (sure ?? candidates[0])?.groups?.["version"];
}

/** Below 0 when `a` comes before `b`, above 0 when after; by the rules of semver, so a prerelease before its release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  const release = compareLists(left.release, right.release);
  if (release !== 0) return release;
  if (left.prerelease.length === 0 || right.prerelease.length === 0) {
    return right.prerelease.length - left.prerelease.length;
  }
  return compareLists(left.prerelease, right.prerelease);
}

function parts(version: string): { release: string[]; prerelease: string[] } {
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

/** Numbers by value and before words; the longer list is the later one. */
function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  const [left, right] = [a, b].map((text) => (/^\d+$/.test(text) ? BigInt(text) : undefined));
  if (left !== undefined && right !== undefined) return left < right ? -1 : left > right ? 1 : 0;
  if (left !== undefined || right !== undefined) return left === undefined ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}
