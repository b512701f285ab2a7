import { isInside } from "@codexkit/rpc";

const NODE_PREFIX = "node:";

/** The label that only the node with this name has. */
export function nodeLabel(name: string): string {
  return NODE_PREFIX + name;
}

/** The name of the node that a session is pinned to. Undefined if it can move. */
export function pinnedNode(needs: readonly string[]): string | undefined {
  return needs.find((label) => label.startsWith(NODE_PREFIX))?.slice(NODE_PREFIX.length);
}

/** Labels, each with the resolved folder that all nodes with the label share. */
export type SharedRoots = Readonly<Record<string, string>>;

export interface Workspace {
  /** The resolved path, unless the folder is in an execution environment. */
  readonly cwd: string;
  /** Whether the commands of the session run in an execution environment. */
  readonly isRemote: boolean;
  /** The node that the client requested. */
  readonly node?: string | undefined;
  /** Additional labels that the client requested. */
  readonly labels?: readonly string[] | undefined;
}

/**
 * Returns the labels that a node must have to own a session. They depend on where its files are: an execution environment can be
 * reached from every node, a shared root only from the nodes that have it, and any other folder only from the node that created the
 * session.
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
    .filter(([, root]) => isInside(root, cwd))
    .toSorted(([, a], [, b]) => b.length - a.length);
  return [innermost ? innermost[0] : nodeLabel(nodeName)];
}
