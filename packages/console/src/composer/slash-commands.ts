export type SlashCommandName =
  | "archive"
  | "budget"
  | "compact"
  | "effort"
  | "fork"
  | "goal"
  | "interrupt"
  | "mode"
  | "model"
  | "park"
  | "permissions"
  | "rename"
  | "revert"
  | "review"
  | "shell";

export interface SlashCommand {
  readonly name: SlashCommandName;
  /** The arguments, as shown in the list. Empty if there are none. */
  readonly argument: string;
  readonly summary: string;
}

/** The commands of the composer, in the order of the list. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: "compact", argument: "", summary: "Summarise the conversation to free context" },
  { name: "review", argument: "[branch | commit | instructions]", summary: "Review changes" },
  { name: "fork", argument: "[name]", summary: "Continue in a copy of this session" },
  { name: "revert", argument: "[turns]", summary: "Remove the last turns from the history" },
  { name: "rename", argument: "name", summary: "Rename the session" },
  { name: "model", argument: "name", summary: "Change the model" },
  { name: "effort", argument: "level", summary: "Change the reasoning effort" },
  { name: "mode", argument: "build | plan | chat", summary: "Change the agent mode" },
  {
    name: "permissions",
    argument: "read-only | workspace-write | danger-full-access | bypass",
    summary: "Change what Codex may do without asking",
  },
  { name: "goal", argument: "[objective | clear]", summary: "Set or remove the goal" },
  { name: "budget", argument: "tokens | clear", summary: "Limit the tokens of the session" },
  { name: "interrupt", argument: "", summary: "Interrupt the running turn" },
  { name: "park", argument: "", summary: "Park the requests that wait for a person" },
  { name: "shell", argument: "command", summary: "Run your own shell command, outside the sandbox" },
  { name: "archive", argument: "", summary: "Archive the session" },
];

export function findCommand(name: string): SlashCommand | undefined {
  return SLASH_COMMANDS.find((command) => command.name === name);
}

/** Returns the commands whose name begins with the text, then those that contain it. */
export function matchCommands(text: string): readonly SlashCommand[] {
  const first = SLASH_COMMANDS.filter(({ name }) => name.startsWith(text));
  const others = SLASH_COMMANDS.filter(({ name }) => !name.startsWith(text) && name.includes(text));
  return [...first, ...others];
}
