/** What decides whether a node can run a session. Sessions share few of these, so that they are looked at instead of sessions. */
export interface PlacementClass {
  /** JSON of the labels that the session needs. */
  readonly needs: string;
  /** The Codex that has written its thread. Empty if there is none yet. */
  readonly codexVersion: string;
}

export interface NodeAbilities {
  readonly labels: readonly string[];
  readonly codexVersion: string;
}

/** Whether a node has the labels that sessions need, and a Codex that is not older than the one that wrote their threads. */
export function canRun({ needs, codexVersion }: PlacementClass, node: NodeAbilities): boolean {
  const labels = JSON.parse(needs) as readonly string[];
  return (
    labels.every((label) => node.labels.includes(label)) &&
    (codexVersion === "" || compareVersions(codexVersion, node.codexVersion) <= 0)
  );
}

/** Compares dotted versions by their numbers, ignoring what follows them. */
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
