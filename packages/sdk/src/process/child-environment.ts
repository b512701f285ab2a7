/** Environment variables. An undefined value removes the variable. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Merges environments; later ones win. On Windows `Path` and `PATH` are the same variable. */
export function mergeEnvironments(
  layers: readonly Environment[],
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const merged = new Map<string, readonly [name: string, value: string]>();
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer)) {
      const key = platform === "win32" ? name.toUpperCase() : name;
      if (value === undefined) merged.delete(key);
      else merged.set(key, [name, value]);
    }
  }
  return Object.fromEntries(merged.values());
}
