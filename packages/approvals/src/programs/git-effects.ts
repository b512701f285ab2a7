import { flagWith } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";

/** Changes commits, references and the index. */
export const LOCAL: readonly Effect[] = [action("git-local")];

/** Changes files of the work tree as well, with names that only the commits know. */
export const WORK_TREE: readonly Effect[] = [action("git-local"), action("unpack")];

export const DRY_RUN = flagWith({ replacesEffects: true });
