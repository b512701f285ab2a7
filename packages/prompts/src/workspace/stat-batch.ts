import { lstatSync } from "node:fs";

/** The part of a path's `lstat` that identifies its version. */
export interface PathStats {
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  readonly dev: number;
}

/** Paths whose stats several threads look up together. The two typed arrays are shared memory. */
export interface StatBatch {
  readonly root: string;
  readonly paths: readonly string[];
  /** {@link FIELDS} numbers per path. */
  readonly values: Float64Array;
  /** A single number, the index of the first path that no thread has taken. */
  readonly next: Int32Array;
}

const FIELDS = 6;

/** Mode values for paths without stats. */
const MISSING = 0;
const FAILED = -1;

/** Number of paths that a thread takes at a time, about 0.5 ms of work. */
const CHUNK = 128;

export function createBatch(root: string, paths: readonly string[]): StatBatch {
  return {
    root,
    paths,
    values: new Float64Array(new SharedArrayBuffer(paths.length * FIELDS * Float64Array.BYTES_PER_ELEMENT)),
    next: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  };
}

/** Looks up the next chunk of paths. Returns false if other threads have taken all of them. */
export function statChunk({ root, paths, values, next }: StatBatch): boolean {
  const start = Atomics.add(next, 0, CHUNK);
  const end = Math.min(start + CHUNK, paths.length);
  for (let index = start; index < end; index += 1) {
    const at = index * FIELDS;
    try {
      const stats = lstatSync(`${root}/${paths[index]}`, { throwIfNoEntry: false });
      values[at] = stats?.mode ?? MISSING;
      values[at + 1] = stats?.size ?? 0;
      values[at + 2] = stats?.mtimeMs ?? 0;
      values[at + 3] = stats?.ctimeMs ?? 0;
      values[at + 4] = stats?.ino ?? 0;
      values[at + 5] = stats?.dev ?? 0;
    } catch {
      values[at] = FAILED;
    }
  }
  return end < paths.length;
}

/** Returns a path's stats, undefined if it does not exist, or "failed" if it could not be looked up. */
export function statsAt({ values }: StatBatch, index: number): PathStats | undefined | "failed" {
  const at = index * FIELDS;
  const mode = values[at] ?? FAILED;
  if (mode === MISSING) return undefined;
  if (mode === FAILED) return "failed";
  return {
    mode,
    size: values[at + 1] ?? 0,
    mtimeMs: values[at + 2] ?? 0,
    ctimeMs: values[at + 3] ?? 0,
    ino: values[at + 4] ?? 0,
    dev: values[at + 5] ?? 0,
  };
}

/** Returns the indexes of paths whose stats differ from an older copy of the values. */
export function findDiffering({ paths, values }: StatBatch, before: Float64Array): readonly number[] {
  const differing: number[] = [];
  for (let index = 0; index < paths.length; index += 1) {
    const at = index * FIELDS;
    let field = 0;
    while (field < FIELDS && values[at + field] === before[at + field]) field += 1;
    if (field < FIELDS || values[at] === FAILED) differing.push(index);
  }
  return differing;
}
