import type { Answer, Question } from "@codexkit/approvals";
import { SerialQueue } from "@codexkit/rpc/async";
import type { AnyApproval, ServerRequestHandlers, v2 } from "codexkit";
import type { CliContext } from "../context.ts";
import { askChoice, askText, type PromptStreams } from "../input/prompts.ts";
import { lifetime } from "../process/lifetime.ts";
import { formatChanges } from "../render/format-diff.ts";
import { unwrapCommand } from "../render/format-items.ts";
import type { TurnView } from "../render/turn-view.ts";
import type { LiveOutput } from "../terminal/live-output.ts";
import { revealText } from "../terminal/sanitize.ts";
import type { Style } from "../terminal/style.ts";
import type { AskPerson } from "./approvals.ts";

/** Lines of a diff that a person decides about. */
const DIFF_LINES = 400;

interface TerminalPromptOptions {
  readonly context: CliContext;
  readonly output: LiveOutput;
  readonly view: TurnView;
  readonly style: Style;
  readonly cwd: string;
  /** Called before and after a prompt, for a program that reads keys itself. */
  readonly onPrompt?: ((isOpen: boolean) => void) | undefined;
  /** Receives what was typed during a prompt but is not an answer. */
  readonly onText?: PromptStreams["onText"];
}

/** Asks a person in the terminal: about approvals, and the questions of the model. One at a time. */
export class TerminalPrompts {
  readonly #options: TerminalPromptOptions;
  readonly #queue = new SerialQueue();

  constructor(options: TerminalPromptOptions) {
    this.#options = options;
  }

  readonly askAboutApproval: AskPerson = (approval, question, signal) =>
    this.#queue.run(async () => {
      // It may have been withdrawn while another question was open.
      if (signal.aborted) return { decision: "deny" };
      const { view, style, cwd } = this.#options;
      view.block(formatQuestion(approval, question, { style, cwd }));
      const picked = await this.#prompt(signal, (streams) =>
        askChoice(
          {
            message: "Allow this?",
            choices: [
              { value: "once", label: "Yes" },
              ...(question.suggestions.length > 0
                ? [{ value: "always", label: "Yes, and don't ask again about exactly this" }]
                : []),
              { value: "deny", label: "No, continue without it" },
              { value: "stop", label: "No, and stop" },
            ],
            initial: "deny",
          },
          streams,
        ),
      );
      if (picked !== undefined) return toAnswer(picked);
      // Ctrl-C. A withdrawn question looks the same.
      if (!signal.aborted) lifetime.interrupt();
      return { decision: "deny", cancel: true, reason: "interrupted" };
    });

  readonly answerQuestions: NonNullable<ServerRequestHandlers["userInput"]> = ({ questions }, { signal }) =>
    this.#queue.run(async () => {
      const answers: [string, string][] = [];
      for (const question of questions) {
        const answer = await this.#askQuestion(question, signal);
        if (answer === undefined) break;
        answers.push([question.id, answer]);
      }
      return Object.fromEntries(answers);
    });

  /** Opens a prompt of the caller's, with lines before it, when no other is open. Undefined if it was withdrawn before. */
  ask<Value>(
    lines: readonly string[],
    signal: AbortSignal,
    prompt: (streams: PromptStreams) => Promise<Value>,
  ): Promise<Value | undefined> {
    return this.#queue.run(async () => {
      if (signal.aborted) return undefined;
      this.#options.view.block(lines);
      return this.#prompt(signal, prompt);
    });
  }

  async #askQuestion(
    question: v2.ToolRequestUserInputQuestion,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const message = revealText(question.question);
    const options = question.options ?? [];
    return this.#prompt(signal, async (streams) => {
      if (question.isSecret || options.length === 0)
        return askText({ message, isSecret: question.isSecret }, streams);
      const choices = [
        ...options.map(({ label, description }) => ({
          value: label,
          label: revealText(label),
          hint: revealText(description),
        })),
        ...(question.isOther ? [{ value: "", label: "Something else" }] : []),
      ];
      const choice = await askChoice({ message, choices }, streams);
      return choice === "" ? askText({ message }, streams) : choice;
    });
  }

  /** Gives the terminal to a prompt. */
  async #prompt<Value>(signal: AbortSignal, ask: (options: PromptStreams) => Promise<Value>): Promise<Value> {
    const { context, output, view, onPrompt, onText } = this.#options;
    const { stdin, stdout, stderr } = context;
    view.setActivity("waiting for your answer");
    output.pause();
    onPrompt?.(true);
    // The given signal also aborts after the answer, and a prompt that has ended would leave raw mode once more.
    const withdrawn = new AbortController();
    const withdraw = (): void => withdrawn.abort(signal.reason);
    signal.addEventListener("abort", withdraw);
    try {
      return await ask({
        input: stdin,
        output: stdout.isTTY ? stdout : stderr,
        signal: withdrawn.signal,
        onText,
      });
    } finally {
      signal.removeEventListener("abort", withdraw);
      onPrompt?.(false);
      output.resume();
      view.setActivity("working");
    }
  }
}

function toAnswer(picked: string): Answer {
  switch (picked) {
    case "once":
      return { decision: "allow" };
    case "always":
      return { decision: "allow", scope: "always" };
    case "deny":
      return { decision: "deny", reason: "declined at the terminal" };
    default:
      return { decision: "deny", cancel: true, reason: "declined at the terminal" };
  }
}

/** What is asked, with the reasons of the model and of the policy. Hidden characters are shown. */
function formatQuestion(
  approval: AnyApproval,
  { evaluation }: Question,
  { style, cwd }: { style: Style; cwd: string },
): string[] {
  const { reason } = approval as { reason?: string | undefined };
  return [
    style.bold(style.yellow(titleOf(approval))),
    ...detailsOf(approval, style, cwd),
    ...(reason ? [`  ${style.dim("The agent says:")} ${revealText(reason)}`] : []),
    `  ${style.dim("The policy asks:")} ${revealText(evaluation.reason)}`,
  ];
}

function titleOf(approval: AnyApproval): string {
  switch (approval.kind) {
    case "command":
      if (approval.network) return `The agent wants to connect to ${revealText(approval.network.host)}`;
      return approval.action === "writeStdin"
        ? "The agent wants to type into a running command"
        : "The agent wants to run a command outside the sandbox";
    case "legacyCommand":
      return "The agent wants to run a command outside the sandbox";
    case "fileChange":
    case "legacyPatch":
      return "The agent wants to change files";
    case "permissions":
      return "The agent wants more permissions";
    case "mcpTool":
      return `The agent wants to call ${revealText(approval.tool ?? "a tool")} of ${revealText(approval.server)}`;
  }
}

function detailsOf(approval: AnyApproval, style: Style, threadCwd: string): string[] {
  switch (approval.kind) {
    case "command":
    case "legacyCommand": {
      const { command, cwd } = approval;
      const line = typeof command === "string" ? unwrapCommand(command) : (command?.join(" ") ?? "");
      const lines = revealText(line)
        .split("\n")
        .map((each) => `    ${each}`);
      const [first = "", ...others] = lines;
      return [
        ...(line === "" ? [] : [`  ${style.cyan("$")} ${style.bold(first.trimStart())}`, ...others]),
        ...(cwd === undefined ? [] : [`  ${style.dim("in")} ${revealText(cwd)}`]),
      ];
    }
    case "fileChange":
      return [
        ...formatChanges(approval.changes ?? [], style, {
          cwd: threadCwd,
          limit: DIFF_LINES,
        }),
        ...(approval.grantRoot === undefined
          ? []
          : [`  and to write below ${revealText(approval.grantRoot)}`]),
      ];
    case "legacyPatch":
      return Object.keys(approval.changes).map((path) => `  ${revealText(path)}`);
    case "permissions":
      return revealText(JSON.stringify(approval.permissions, undefined, 2))
        .split("\n")
        .map((line) => `  ${line}`);
    case "mcpTool":
      return [
        `  ${revealText(approval.message)}`,
        ...(approval.arguments === undefined ? [] : [`  ${revealText(JSON.stringify(approval.arguments))}`]),
      ];
  }
}
