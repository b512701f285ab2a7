import { flagWith } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";

/** Changes commits, references and the index. */
export const LOCAL: readonly Effect[] = [action("git-local")];

/** Also changes files of the work tree, whose names only the commits know. */
export const WORK_TREE: readonly Effect[] = [action("git-local"), action("unpack")];

export const DRY_RUN = flagWith({ replacesEffects: true });
