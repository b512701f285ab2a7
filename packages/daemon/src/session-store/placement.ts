/**
 * The properties that decide which nodes can run a session. Many sessions share the same ones, so placement compares classes
 * instead of sessions.
 */
export interface PlacementClass {
  /** JSON of the labels that the session needs. */
  readonly needs: string;
  /** The version of Codex that wrote the session's thread. Empty if there is no thread yet. */
  readonly codexVersion: string;
}

export interface NodeAbilities {
  readonly labels: readonly string[];
  readonly codexVersion: string;
}

/** Whether a node has the required labels, and a Codex at least as new as the one that wrote the threads. */
export function canRun({ needs, codexVersion }: PlacementClass, node: NodeAbilities): boolean {
  const labels = JSON.parse(needs) as readonly string[];
  return (
    labels.every((label) => node.labels.includes(label)) &&
    (codexVersion === "" || compareVersions(codexVersion, node.codexVersion) <= 0)
  );
}

/** Compares dotted versions by their numbers. A suffix is ignored. */
export function compareVersions(a: string, b: string): number {
  const numbers = (version: string): number[] =>
    (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? "0").split(".").map(Number);
  const [left, right] = [numbers(a), numbers(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
