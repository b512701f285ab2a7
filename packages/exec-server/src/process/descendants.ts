import { readFileSync } from "node:fs";

/** Maximum number of processes per call, so that a fork bomb can't keep the server busy. */
const MOST = 4096;

/**
 * Returns all living descendants of a process, found through their parents. A descendant whose parent has
 * ended belongs to init and is not found. Empty if the kernel does not list children.
 */
export function descendantsOf(pid: number): number[] {
  const found: number[] = [];
  const queue = [pid];
  for (let next = queue.pop(); next !== undefined && found.length < MOST; next = queue.pop()) {
    const children = childrenOf(next);
    found.push(...children);
    queue.push(...children);
  }
  return found;
}

/**
 * Children are listed per thread. Those of threads other than the first are rare, and are reached by
 * signalling the group.
 */
function childrenOf(pid: number): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim();
    return list === "" ? [] : list.split(" ").map(Number);
  } catch {
    return []; // It has ended, or this is not Linux.
  }
}
