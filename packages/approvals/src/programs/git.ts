import { declareProgram, flag, information, value } from "./declaration/declaration.ts";
import { config } from "./git-config.ts";
import { HISTORY_COMMANDS } from "./git-history.ts";
import { LOG_COMMANDS } from "./git-log.ts";
import { OBJECT_COMMANDS } from "./git-objects.ts";
import { PATCH_COMMANDS } from "./git-patches.ts";
import { REFERENCE_COMMANDS } from "./git-references.ts";
import { HARMLESS_SETTING } from "./git-settings.ts";
import { SYNCHRONIZE_COMMANDS } from "./git-synchronize.ts";
import { WORK_TREE_COMMANDS } from "./git-work-tree.ts";

/**
 * Git runs hooks, filters, pagers and a file system monitor that the configuration of the repository names, even for commands
 * that only read: write access to that configuration amounts to running code. `--git-dir`, `--work-tree`, `--exec-path`,
 * `--config-env` and `--paginate` are not declared, nor are aliases.
 */
export const git = declareProgram({
  names: ["git"],
  options: {
    "-c": value(HARMLESS_SETTING),
    "-C": value("cwd"),
    "--literal-pathspecs": flag,
    "--no-optional-locks": flag,
    "--no-replace-objects": flag,
    "-P, --no-pager": flag,
    "--version": information,
  },
  subcommands: {
    ...HISTORY_COMMANDS,
    ...LOG_COMMANDS,
    ...OBJECT_COMMANDS,
    ...PATCH_COMMANDS,
    ...REFERENCE_COMMANDS,
    ...SYNCHRONIZE_COMMANDS,
    ...WORK_TREE_COMMANDS,
    config,
  },
});
