import type { Answer } from "@codexkit/approvals";
import { toInboxRequest } from "@codexkit/daemon/client";
import { SerialQueue } from "@codexkit/rpc/async";
import type { ServerRequestHandlers } from "codexkit";
import type { CliContext } from "../context.ts";
import { askForm } from "../input/ask-form.ts";
import { askQuestions } from "../input/ask-questions.ts";
import { askChoice, type PromptStreams } from "../input/prompts.ts";
import { lifetime } from "../process/lifetime.ts";
import { formatRequest, QUESTION_TITLE } from "../render/format-request.ts";
import type { TurnView } from "../render/turn-view.ts";
import type { LiveOutput } from "../terminal/live-output.ts";
import { revealText } from "../terminal/sanitize.ts";
import type { Style } from "../terminal/style.ts";
import type { AskUser } from "./approvals.ts";

interface TerminalPromptOptions {
  readonly context: CliContext;
  readonly output: LiveOutput;
  readonly view: TurnView;
  readonly style: Style;
  readonly cwd: string;
  /** Called before and after a prompt, for a program that reads keys itself. */
  readonly onPrompt?: ((isOpen: boolean) => void) | undefined;
  /** Receives text that was typed during a prompt but is not an answer. */
  readonly onText?: PromptStreams["onText"];
}

/**
 * Asks the user in the terminal about approvals, questions of the agent and forms of MCP servers, one at a
 * time.
 */
export class TerminalPrompts {
  readonly #options: TerminalPromptOptions;
  readonly #queue = new SerialQueue();

  constructor(options: TerminalPromptOptions) {
    this.#options = options;
  }

  readonly askAboutApproval: AskUser = (approval, question, signal) =>
    this.#queue.run(async () => {
      // It may have been withdrawn while another prompt was open.
      if (signal.aborted) return { decision: "deny" };
      const { view, style, cwd } = this.#options;
      view.block([
        ...formatRequest(toInboxRequest(approval), cwd, style),
        `  ${style.dim("The policy asks:")} ${revealText(question.evaluation.reason)}`,
      ]);
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
      // Ctrl-C. A withdrawn question has the same result.
      if (!signal.aborted) lifetime.interrupt();
      return { decision: "deny", cancel: true, reason: "interrupted" };
    });

  readonly answerQuestions: NonNullable<ServerRequestHandlers["userInput"]> = async (
    { questions },
    { signal },
  ) => {
    const { style } = this.#options;
    const title = [style.bold(style.yellow(QUESTION_TITLE))];
    const answers = await this.ask(title, signal, (streams) => askQuestions(questions, streams));
    if (!answers && !signal.aborted) lifetime.interrupt();
    return answers ?? {};
  };

  readonly answerForm: NonNullable<ServerRequestHandlers["elicitation"]> = async (form, { signal }) => {
    const { style, cwd } = this.#options;
    const request = toInboxRequest(form);
    const answer = await this.ask(formatRequest(request, cwd, style), signal, (streams) =>
      askForm(request, streams),
    );
    if (!answer && !signal.aborted) lifetime.interrupt();
    return answer ?? "cancel";
  };

  /**
   * Opens a prompt when no other one is open, after printing `lines`. Undefined if it was withdrawn before.
   */
  ask<Value>(
    lines: readonly string[],
    signal: AbortSignal,
    prompt: (streams: PromptStreams) => Promise<Value>,
  ): Promise<Value | undefined> {
    return this.#queue.run(async () => {
      if (signal.aborted) return undefined;
      if (lines.length > 0) this.#options.view.block(lines);
      return this.#prompt(signal, prompt);
    });
  }

  /** Runs a prompt that uses the terminal. */
  async #prompt<Value>(signal: AbortSignal, ask: (options: PromptStreams) => Promise<Value>): Promise<Value> {
    const { context, output, view, onPrompt, onText } = this.#options;
    const { stdin, stdout, stderr } = context;
    view.setActivity("waiting for your answer");
    output.pause();
    onPrompt?.(true);
    // The given signal also aborts after the answer, and a prompt that has ended would leave raw mode a
    // second time.
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
