import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { formatUnifiedDiff } from "../render/format-diff.ts";
import { formatCount } from "../render/format-values.ts";
import { checkModel } from "../run/check-model.ts";
import { revealLine, sanitizeText } from "../terminal/sanitize.ts";
import { padText } from "../terminal/width.ts";
import type { Conversation } from "./conversation.ts";

interface SlashCommand {
  readonly name: string;
  readonly argument?: string;
  readonly summary: string;
  run(conversation: Conversation, argument: string): Promise<void> | void;
}

/** Maximum number of lines that `/diff` prints. */
const DIFF_LINES = 500;
const DIFF_BYTES = 8 * 1024 * 1024;

const COMMANDS: readonly SlashCommand[] = [
  { name: "help", summary: "list the commands", run: printHelp },
  { name: "status", summary: "show the thread, its settings and its token usage", run: printStatus },
  {
    name: "model",
    argument: "[name]",
    summary: "change the model or list the models",
    run: changeModel,
  },
  {
    name: "effort",
    argument: "<effort>",
    summary: "change the reasoning effort",
    run: async (conversation, effort) => {
      if (effort === "") throw new Error("Pass an effort, such as /effort high.");
      await checkModel({ effort }, conversation);
      await conversation.thread.updateSettings({ effort });
      conversation.note(`The following turns use the effort ${effort}.`);
    },
  },
  {
    name: "compact",
    summary: "summarise the history to free context",
    run: (conversation) =>
      conversation.startTurn(conversation.thread.compact({ signal: conversation.signal })),
  },
  {
    name: "review",
    argument: "[instructions]",
    summary: "review the uncommitted changes",
    run: (conversation, instructions) =>
      conversation.startTurn(
        conversation.thread.review(
          instructions === "" ? { type: "uncommittedChanges" } : { type: "custom", instructions },
          { signal: conversation.signal },
        ),
      ),
  },
  { name: "diff", summary: "show the uncommitted changes in the folder", run: printDiff },
  { name: "new", summary: "start a new thread", run: (conversation) => conversation.replaceThread("new") },
  {
    name: "fork",
    summary: "continue a copy of the thread",
    run: (conversation) => conversation.replaceThread("fork"),
  },
  {
    name: "rename",
    argument: "<name>",
    summary: "name the thread",
    run: async (conversation, name) => {
      if (name === "") throw new Error("Pass a name, such as /rename Fix the build.");
      await conversation.thread.rename(name);
      conversation.note(`The thread is called ${sanitizeText(name)}.`);
    },
  },
  { name: "quit", summary: "exit (also /exit and Ctrl-D)", run: (conversation) => conversation.exit() },
];

/** Names that other programs use for the same commands. */
const ALIASES: Readonly<Record<string, string>> = { exit: "quit", q: "quit", "?": "help", clear: "new" };

/** Words that the Tab key completes. */
export const SLASH_WORDS: readonly string[] = COMMANDS.map(({ name }) => `/${name}`);

/** Runs a line such as `/model gpt-5.5`. */
export async function runSlashCommand(conversation: Conversation, line: string): Promise<void> {
  const [, word = "", argument = ""] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
  const name = ALIASES[word] ?? word;
  const command = COMMANDS.find((each) => each.name === name);
  if (!command) throw new Error(`There is no command /${sanitizeText(word)}. /help lists the commands.`);
  await command.run(conversation, argument.trim());
}

function printHelp(conversation: Conversation): void {
  const rows = COMMANDS.map(({ name, argument, summary }) => [
    `/${name}${argument ? ` ${argument}` : ""}`,
    summary,
  ]);
  const keys = [
    ["!command", "run a shell command outside the sandbox"],
    ["Enter", "send a message; steers the turn while one is running"],
    ["Ctrl-C", "interrupt the turn or clear the line; press again to exit"],
    ["↑ ↓", "earlier messages"],
  ];
  conversation.print([...rows, ...keys].map(([term = "", text = ""]) => `${padText(term, 24)}${text}`));
}

function printStatus(conversation: Conversation): void {
  const { thread, tokens, contextWindow } = conversation;
  const { model, reasoningEffort, cwd, sandbox } = thread.settings;
  const rows: readonly (readonly [string, string])[] = [
    ["thread", thread.id],
    ["model", reasoningEffort ? `${model} (${reasoningEffort})` : model],
    ["folder", cwd],
    ["sandbox", sandbox.type],
    ["tokens", formatCount(tokens)],
    ...(contextWindow === null ? [] : [["context", formatCount(contextWindow)] as const]),
  ];
  conversation.print(rows.map(([term, text]) => `${padText(term, 10)}${revealLine(text)}`));
}

async function changeModel(conversation: Conversation, name: string): Promise<void> {
  const { codex, thread } = conversation;
  if (name === "") {
    const models = await Array.fromAsync(codex.models.list());
    conversation.print(
      models.map(({ model, description }) => `${padText(model, 24)}${sanitizeText(description)}`),
    );
    return;
  }
  await checkModel({ model: name }, conversation);
  await thread.updateSettings({ model: name });
  conversation.note(`The following turns use the model ${sanitizeText(name)}.`);
}

async function printDiff(conversation: Conversation): Promise<void> {
  const { cwd } = conversation.thread;
  const git = async (...args: string[]): Promise<string> => {
    const options = { cwd, maxBuffer: DIFF_BYTES, signal: conversation.signal };
    return (await promisify(execFile)("git", args, options)).stdout;
  };
  const [diff, untracked] = await Promise.all([
    git("diff", "--no-color", "--no-ext-diff", "HEAD", "--"),
    git("ls-files", "--others", "--exclude-standard"),
  ]).catch(() => {
    throw new Error(`${cwd} is not a git repository with a commit.`);
  });
  const names = untracked.split("\n").filter(Boolean);
  const lines = [
    ...(diff === "" ? [] : formatUnifiedDiff(diff, conversation.style)),
    ...names.map((name) => conversation.style.green(`new file: ${revealLine(name)}`)),
  ];
  const cut = lines.length > DIFF_LINES ? [`… ${lines.length - DIFF_LINES} more lines`] : [];
  conversation.print(lines.length === 0 ? ["Nothing has changed."] : [...lines.slice(0, DIFF_LINES), ...cut]);
}
