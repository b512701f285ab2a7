import { Option } from "commander";
import type { CliCommand } from "../cli-command.ts";
import { addCodexOptions, type CodexCommandOptions } from "../codex/codex-options.ts";
import { usageError } from "../errors/cli-error.ts";
import { collectValues, parseDuration, parseTokenCount } from "../options/parse-values.ts";

export type SandboxMode = "read-only" | "workspace-write" | "danger-full-access";
export type AgentMode = "build" | "plan" | "chat";

/** Options that `run` and `chat` share. */
export interface ThreadCommandOptions extends CodexCommandOptions {
  readonly cd?: string;
  readonly model?: string;
  readonly effort?: string;
  readonly sandbox?: SandboxMode;
  readonly mode?: AgentMode;
  readonly allow?: readonly string[];
  readonly policy?: string;
  readonly image?: readonly string[];
  /** `true` if no ID was given. */
  readonly resume?: string | true;
  readonly fork?: boolean;
  /** The URL of a daemon, or `true` if no URL was given. */
  readonly daemon?: string | true;
  readonly tokenFile?: string;
  readonly budget?: number;
  readonly deadline?: number;
}

export interface RunCommandOptions extends ThreadCommandOptions {
  readonly outputSchema?: string;
  /** The file to which the last message is written. */
  readonly output?: string;
}

/** Checks that the options are compatible, before anything is loaded for them. */
export function checkThreadOptions({ fork, resume }: ThreadCommandOptions): void {
  if (fork && resume === undefined) {
    throw usageError("--fork needs --resume.", "Name the thread to copy: --resume [id] --fork.");
  }
}

export function addThreadOptions(command: CliCommand): CliCommand {
  command
    .option("-C, --cd <folder>", "work in this folder instead of the current one")
    .option("-m, --model <model>", "model to use; `codexkit models` lists them")
    .option("-e, --effort <effort>", "reasoning effort: low, medium, high, …")
    .addOption(
      new Option("-s, --sandbox <mode>", "sandbox for commands").choices([
        "read-only",
        "workspace-write",
        "danger-full-access",
      ]),
    )
    .addOption(
      new Option(
        "--mode <mode>",
        "build: do the work; plan: only make a plan; chat: only answer questions",
      ).choices(["build", "plan", "chat"]),
    )
    .option(
      "--allow <rule>",
      "allow commands with this prefix without asking; can be repeated",
      collectValues,
    )
    .option("--policy <file>", "answer approvals by this policy file (JSON; see docs/approvals.md)")
    .option("-i, --image <file>", "attach an image to the first message; can be repeated", collectValues)
    .option(
      "--resume [id]",
      "continue the thread with this ID; without an ID, choose from a list, or without a terminal the latest one of this folder. A first word that looks like an ID is not part of the prompt",
    )
    .option("--fork", "continue a copy and leave the original thread unchanged")
    .option("--budget <tokens>", "interrupt after this many tokens, such as 200k", parseTokenCount)
    .option("--deadline <duration>", "interrupt after this time, such as 10m", parseDuration)
    .option(
      "--daemon [url]",
      "use a session of the daemon instead of a local thread; default URL: CODEXKIT_URL, then the daemon started by `codexkit serve`. A first word that is not a URL is part of the prompt",
    )
    .option(
      "--token-file <file>",
      "file with the daemon's token (default: CODEXKIT_TOKEN, then the token file of `codexkit serve`)",
    );
  return addCodexOptions(command);
}
