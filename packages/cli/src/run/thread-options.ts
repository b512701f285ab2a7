import { Option } from "commander";
import type { CliCommand } from "../cli-command.ts";
import { addCodexOptions, type CodexCommandOptions } from "../codex/codex-options.ts";
import { usageError } from "../errors/cli-error.ts";
import { collectValues, parseDuration, parseTokenCount } from "../options/parse-values.ts";

export type SandboxMode = "read-only" | "workspace-write" | "danger-full-access";
export type AgentMode = "build" | "plan" | "chat";

/** The options that `run` and `chat` have in common. */
export interface ThreadCommandOptions extends CodexCommandOptions {
  readonly cd?: string;
  readonly model?: string;
  readonly effort?: string;
  readonly sandbox?: SandboxMode;
  readonly mode?: AgentMode;
  readonly allow?: readonly string[];
  readonly policy?: string;
  readonly image?: readonly string[];
  /** `true` without an ID. */
  readonly resume?: string | true;
  readonly fork?: boolean;
  /** The URL of a daemon; `true` without one. */
  readonly daemon?: string | true;
  readonly tokenFile?: string;
  readonly budget?: number;
  readonly deadline?: number;
}

export interface RunCommandOptions extends ThreadCommandOptions {
  readonly outputSchema?: string;
  /** The file for the last message. */
  readonly output?: string;
}

/** Checks that options fit together, before anything is loaded for them. */
export function checkThreadOptions({ fork, resume }: ThreadCommandOptions): void {
  if (fork && resume === undefined) {
    throw usageError("--fork needs --resume.", "Name the thread to copy: --resume [id] --fork.");
  }
}

export function addThreadOptions(command: CliCommand): CliCommand {
  command
    .option("-C, --cd <folder>", "work in this folder instead of the current one")
    .option("-m, --model <model>", "the model; `codexkit models` lists them")
    .option("-e, --effort <effort>", "how much the model thinks: low, medium, high, …")
    .addOption(
      new Option("-s, --sandbox <mode>", "what commands can reach").choices([
        "read-only",
        "workspace-write",
        "danger-full-access",
      ]),
    )
    .addOption(
      new Option(
        "--mode <mode>",
        "build: works. plan: makes a plan, and changes nothing. chat: answers, and changes nothing",
      ).choices(["build", "plan", "chat"]),
    )
    .option(
      "--allow <rule>",
      "allow commands that start like this without asking; can be repeated",
      collectValues,
    )
    .option("--policy <file>", "answer approvals by this policy (JSON; see docs/approvals.md)")
    .option("-i, --image <file>", "attach an image to the first message; can be repeated", collectValues)
    .option(
      "--resume [id]",
      "continue a thread: by its whole ID, or from a list; without a terminal the last one here. A word before the prompt is an ID",
    )
    .option("--fork", "continue a copy of the thread, and leave the thread as it is")
    .option("--budget <tokens>", "interrupt after this many tokens, such as 200k", parseTokenCount)
    .option("--deadline <duration>", "interrupt after this time, such as 10m", parseDuration)
    .option(
      "--daemon [url]",
      "make a session of a daemon instead of a thread; without a URL: CODEXKIT_URL, then the one of `codexkit serve`. A word that is not an address begins the prompt",
    )
    .option(
      "--token-file <file>",
      "file with the daemon's token (default: CODEXKIT_TOKEN, then the one of `codexkit serve`)",
    );
  return addCodexOptions(command);
}
