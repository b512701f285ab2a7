import { declareProgram, flag, value } from "./declaration/declaration.ts";
import { CHANGE_COMMANDS } from "./git-change.ts";
import { config } from "./git-config.ts";
import { INSPECT_COMMANDS } from "./git-inspect.ts";
import { HARMLESS_SETTING } from "./git-settings.ts";
import { SYNCHRONIZE_COMMANDS } from "./git-synchronize.ts";

/**
 * Git runs hooks, filters, pagers and a file system monitor that the configuration of the repository names, even for
 * commands that only read: write access to that configuration is the right to run code. `--git-dir`, `--work-tree`, `--exec-path`, `--config-env` and
 * `--paginate` are not declared, nor are aliases.
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
    "--version": flag,
  },
  subcommands: { ...CHANGE_COMMANDS, ...INSPECT_COMMANDS, ...SYNCHRONIZE_COMMANDS, config },
});
