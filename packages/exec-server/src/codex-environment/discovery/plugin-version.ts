const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*))?(?:\+([\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*))?$/;

/**
 * A plugin under development is installed under this name, which takes precedence over every version number.
 */
const LOCAL = "local";

/** Returns the active version of a plugin, given the names of its version folders. */
export function activeVersion(folders: readonly string[]): string | undefined {
  const versions = folders.filter((name) => /^[A-Za-z0-9._+-]+$/.test(name));
  return versions.includes(LOCAL) ? LOCAL : versions.toSorted(compareVersions).at(-1);
}

/** Compares semantic versions. If one of them is not a semantic version, compares both as text. */
function compareVersions(left: string, right: string): number {
  const [one, other] = [SEMVER.exec(left), SEMVER.exec(right)];
  if (!one || !other) return compare(left, right);
  for (const part of [1, 2, 3]) {
    const order = compare(BigInt(one[part] ?? 0), BigInt(other[part] ?? 0));
    if (order !== 0) return order;
  }
  // A version without a pre-release part sorts after those with one. A version without build metadata sorts
  // before.
  return comparePre(one[4], other[4]) || compareLists(one[5]?.split(".") ?? [], other[5]?.split(".") ?? []);
}

function comparePre(left: string | undefined, right: string | undefined): number {
  if (left === undefined || right === undefined)
    return compare(Number(left === undefined), Number(right === undefined));
  return compareLists(left.split("."), right.split("."));
}

/**
 * Compares identifiers: numbers before words, numbers by value. Of two lists with a common start, the shorter
 * one is smaller.
 */
function compareLists(left: readonly string[], right: readonly string[]): number {
  for (const [index, one] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
    const order =
      isNumber && isOtherNumber
        ? compare(BigInt(one), BigInt(other))
        : compare(Number(!isNumber), Number(!isOtherNumber)) || compare(one, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compare<T extends string | number | bigint>(left: T, right: T): number {
  return left < right ? -1 : Number(left > right);
}
