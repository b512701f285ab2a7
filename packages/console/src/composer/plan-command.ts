import type { CommandBody, Session } from "@codexkit/daemon/client";
import { formatCount } from "../ui/format.ts";
import { parseTokens } from "../usage/tokens.ts";
import type { SlashCommand } from "./slash-commands.ts";

type SettingsChange = CommandBody<"settings">;

/** The request to the daemon for a slash command. */
export type PlannedCommand =
  | { readonly operation: "compact" | "interrupt" | "archive" | "park" }
  | { readonly operation: "shell"; readonly command: string }
  | { readonly operation: "review"; readonly body: CommandBody<"review"> }
  | { readonly operation: "fork"; readonly body: CommandBody<"fork"> }
  /** The turn is identified by its position, counted from the newest one. */
  | { readonly operation: "revert"; readonly turns: number }
  | { readonly operation: "rename"; readonly name: string }
  | { readonly operation: "goal"; readonly body: CommandBody<"goal"> }
  | { readonly operation: "settings"; readonly body: SettingsChange }
  /** The command needs another argument. */
  | { readonly operation: "refuse"; readonly message: string };

const AGENT_MODES = ["build", "plan", "chat"] as const;
const PERMISSION_MODES = ["read-only", "workspace-write", "danger-full-access", "bypass"] as const;

/** Translates a slash command into a request. */
export function planCommand(
  { name }: SlashCommand,
  argument: string,
  session: Pick<Session, "goal" | "settings">,
): PlannedCommand {
  switch (name) {
    case "compact":
    case "interrupt":
    case "archive":
    case "park":
      return argument === "" ? { operation: name } : refuse(`/${name} takes no argument.`);
    case "shell":
      return argument === ""
        ? refuse("Add the command to run, such as /shell npm test.")
        : { operation: "shell", command: argument };
    case "review":
      return { operation: "review", body: { target: reviewTarget(argument) } };
    case "fork":
      return { operation: "fork", body: argument === "" ? {} : { name: argument } };
    case "revert":
      return planRevert(argument);
    case "rename":
      return argument === ""
        ? refuse("Add the new name, such as /rename Fix the parser.")
        : { operation: "rename", name: argument };
    case "model":
      return argument === ""
        ? refuse("Add the name of a model, or choose one in the menu below.")
        : { operation: "settings", body: { model: argument } };
    case "effort":
      return argument === ""
        ? refuse("Add an effort, such as /effort high.")
        : { operation: "settings", body: { effort: argument } };
    case "mode":
      return planChoice(argument, AGENT_MODES, "/mode", (agentMode) => ({ agentMode }));
    case "permissions":
      return planChoice(argument, PERMISSION_MODES, "/permissions", (permissionMode) => ({ permissionMode }));
    case "goal":
      return planGoal(argument, session);
    case "budget":
      return planBudget(argument, session);
  }
}

function planRevert(argument: string): PlannedCommand {
  if (argument === "") return { operation: "revert", turns: 1 };
  return /^[1-9]\d{0,3}$/.test(argument)
    ? { operation: "revert", turns: Number(argument) }
    : refuse(`Expected a number of turns, received "${argument}".`);
}

function planChoice<Choice extends string>(
  argument: string,
  choices: readonly Choice[],
  command: string,
  toSettings: (choice: Choice) => SettingsChange,
): PlannedCommand {
  const choice = choices.find((candidate) => candidate === argument);
  return choice
    ? { operation: "settings", body: toSettings(choice) }
    : refuse(`${command} takes one of ${choices.join(", ")}.`);
}

function planGoal(argument: string, { goal }: Pick<Session, "goal">): PlannedCommand {
  if (argument === "clear") return { operation: "goal", body: { goal: null } };
  if (argument !== "") return { operation: "goal", body: { goal: { objective: argument } } };
  return refuse(goal ? `The goal is: ${goal.objective}` : "There is no goal. Set one with /goal and a text.");
}

function planBudget(argument: string, { settings }: Pick<Session, "settings">): PlannedCommand {
  if (argument === "clear") return { operation: "settings", body: { budget: null } };
  if (argument === "") {
    const limit = settings.budget?.totalTokens;
    return refuse(
      limit === undefined
        ? "There is no budget. Set one with /budget 200k."
        : `The budget is ${formatCount(limit)} tokens.`,
    );
  }
  const totalTokens = parseTokens(argument);
  return totalTokens === undefined
    ? refuse(`Expected a number of tokens such as 200k or 1.5M, received "${argument}".`)
    : { operation: "settings", body: { budget: { ...settings.budget, totalTokens } } };
}

/** A commit by its hash, a branch by a single word, anything else as instructions. */
function reviewTarget(argument: string): CommandBody<"review">["target"] {
  if (argument === "") return { type: "uncommittedChanges" };
  if (/^[0-9a-f]{7,64}$/.test(argument)) return { type: "commit", sha: argument };
  if (/^[\w./-]+$/.test(argument)) return { type: "baseBranch", branch: argument };
  return { type: "custom", instructions: argument };
}

function refuse(message: string): PlannedCommand {
  return { operation: "refuse", message };
}
