import { sep } from "node:path";

const NODE_PREFIX = "node:";

/** The label that only the node with this name has. */
export function nodeLabel(name: string): string {
  return NODE_PREFIX + name;
}

/** The name of the node that a session is pinned to. Undefined if it can move. */
export function pinnedNode(needs: readonly string[]): string | undefined {
  return needs.find((label) => label.startsWith(NODE_PREFIX))?.slice(NODE_PREFIX.length);
}

/** Labels, each with the resolved folder that all nodes with the label have in common. */
export type SharedRoots = Readonly<Record<string, string>>;

export interface Workspace {
  /** Resolved, unless it is a folder of an execution environment. */
  readonly cwd: string;
  /** Whether the commands of the session run in an execution environment. */
  readonly isRemote: boolean;
  /** The node that the client asked for. */
  readonly node?: string | undefined;
  /** Further labels that the client asked for. */
  readonly labels?: readonly string[] | undefined;
}

/**
 * Labels that a node must have to own a session. Files decide: an execution environment is reached from everywhere, a shared root
 * from the nodes that have it, and any other folder is on the node that created the session.
 */
export function needsOf(
  { labels = [], ...workspace }: Workspace,
  node: { readonly nodeName: string; readonly sharedRoots?: SharedRoots },
): readonly string[] {
  return [...new Set([...labelsOf(workspace, node), ...labels])];
}

function labelsOf(
  { cwd, isRemote, node }: Omit<Workspace, "labels">,
  { nodeName, sharedRoots = {} }: { readonly nodeName: string; readonly sharedRoots?: SharedRoots },
): readonly string[] {
  if (node !== undefined) return [nodeLabel(node)];
  if (isRemote) return [];
  const [innermost] = Object.entries(sharedRoots)
    .filter(([, root]) => isInside(cwd, root))
    .toSorted(([, a], [, b]) => b.length - a.length);
  return [innermost ? innermost[0] : nodeLabel(nodeName)];
}

function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}
