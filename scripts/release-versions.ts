/** The parts of a manifest that contain versions of this repository's packages. */
export interface VersionedManifest {
  readonly name?: string;
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

const DEPENDENCY_FIELDS = [
  "dependencies",
  "devDependencies",
  "optionalDependencies",
  "peerDependencies",
] as const;

/** The next version for `patch`, `minor`, `major` or an explicit `x.y.z`. Throws unless it is newer. */
export function nextVersion(current: string, request: string): string {
  const [major, minor, patch] = parts(current);
  switch (request) {
    case "major":
      return `${major + 1}.0.0`;
    case "minor":
      return `${major}.${minor + 1}.0`;
    case "patch":
      return `${major}.${minor}.${patch + 1}`;
    default: {
      const requested = parts(request);
      const changed = requested.findIndex((part, index) => part !== parts(current)[index]);
      if (changed === -1 || (requested[changed] ?? 0) < (parts(current)[changed] ?? 0)) {
        throw new Error(`${request} is not newer than the current version, ${current}.`);
      }
      return request;
    }
  }
}

function parts(version: string): [number, number, number] {
  const found = /^(\d+)\.(\d+)\.(\d+)$/.exec(version);
  if (!found) {
    throw new Error(`"${version}" is not a version. Use patch, minor, major or three numbers such as 1.2.3.`);
  }
  return [Number(found[1]), Number(found[2]), Number(found[3])];
}

/**
 * Writes the new version into a manifest, and into its ranges of packages that are released with it. A range keeps its
 * operator: `^` for published packages, none for pinned ones.
 */
export function bumpManifest(
  manifest: VersionedManifest,
  released: ReadonlySet<string>,
  version: string,
): void {
  if (manifest.version !== undefined) manifest.version = version;
  for (const field of DEPENDENCY_FIELDS) {
    const dependencies = manifest[field];
    for (const [name, range] of Object.entries(dependencies ?? {})) {
      if (dependencies && released.has(name)) {
        dependencies[name] = `${/^[\^~]/.exec(range)?.[0] ?? ""}${version}`;
      }
    }
  }
}
