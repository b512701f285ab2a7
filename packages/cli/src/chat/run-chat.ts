import type { ServerRequestHandlers } from "codexkit";
import { homedir } from "node:os";
import { join } from "node:path";
import { openCodex, requireCredentials } from "../codex/open-codex.ts";
import type { ThreadCommandOptions } from "../run/thread-options.ts";
import type { CliContext } from "../context.ts";
import { EXIT, usageError } from "../errors/cli-error.ts";
import { TurnView } from "../render/turn-view.ts";
import { createApprovalHandlers } from "../run/approvals.ts";
import { TerminalPrompts } from "../run/terminal-prompts.ts";
import { checkModel } from "../run/check-model.ts";
import { loadPolicy } from "../run/load-policy.ts";
import { openThread, resolveFolder } from "../run/open-thread.ts";
import { separatePrompt, toInput } from "../run/read-prompt.ts";
import { TurnLimits } from "../run/turn-limits.ts";
import { lifetime } from "../process/lifetime.ts";
import { LiveOutput, STATUS_INTERVAL_MS } from "../terminal/live-output.ts";
import { revealLine, sanitizeText } from "../terminal/sanitize.ts";
import { readVersion } from "../version.ts";
import { Conversation } from "./conversation.ts";
import { HistoryFile } from "../input/history-file.ts";
import { LineEditor } from "../input/line-editor.ts";
import { SLASH_WORDS } from "./slash-commands.ts";

/** Implements `codexkit chat`: runs turns until the user exits. */
export async function runChat(
  context: CliContext,
  words: string,
  given: ThreadCommandOptions,
): Promise<void> {
  const { stdin, stdout, style, signal } = context;
  if (!stdin.isTTY || !stdout.isTTY || context.json) {
    throw usageError("chat requires a terminal.", 'Use `codexkit run "…"` in scripts.');
  }
  const { prompt, options } = separatePrompt(words, given);
  const cwd = resolveFolder(options);
  const firstInput = prompt === "" ? undefined : toInput(prompt, options.image);
  const policy = await loadPolicy(options, cwd);
  const historyFile = new HistoryFile(join(homedir(), ".codexkit", "history"));

  await using stack = new AsyncDisposableStack();
  const limits = stack.use(new TurnLimits(options));
  const [{ codex }, history] = await Promise.all([
    openCodex(options, { cwd, signal }),
    historyFile.read(),
  ]).then(([opened, entries]) => [stack.use(opened), entries] as const);
  await requireCredentials(codex, signal);

  const output = new LiveOutput(stdout, true);
  const view = new TurnView({ output, style, cwd, budget: options.budget });
  // Set below, because prompts open only after the editor has been created.
  const terminal: { editor?: LineEditor } = {};
  const prompts = new TerminalPrompts({
    context,
    output,
    view,
    style,
    cwd,
    onPrompt: (isOpen) => (isOpen ? terminal.editor?.pause() : terminal.editor?.resume()),
    onText: (typed) => terminal.editor?.append(typed),
  });
  const handlers: ServerRequestHandlers = {
    ...createApprovalHandlers({
      cwd,
      loadPolicy: () => Promise.resolve(policy),
      ask: prompts.askAboutApproval,
      onDecision: ({ decision, reason, decidedBy }) => {
        const text = revealLine(reason);
        if (decision === "deny") view.block([`${style.red("denied:")} ${text}`]);
        else if (decidedBy === "policy") view.block([style.dim(`allowed: ${text}`)]);
      },
    }),
    userInput: prompts.answerQuestions,
    elicitation: prompts.answerForm,
  };
  // The picker of `--resume` uses the terminal before the editor does.
  const thread = await openThread(codex, context, { options, cwd, handlers });
  await checkModel(options, { codex, thread, signal });
  stack.use(output);
  const conversation = new Conversation({
    codex,
    thread,
    view,
    style,
    limits,
    signal,
    openThread: (copied) => {
      const { resume: _resume, fork: _fork, ...settings } = options;
      const next = copied ? { ...settings, resume: copied.id, fork: true } : settings;
      return openThread(codex, context, { options: next, cwd, handlers });
    },
  });
  view.block([
    style.dim(
      `codexkit ${readVersion()} · ${sanitizeText(thread.settings.model)} · ${revealLine(thread.cwd)}`,
    ),
  ]);

  let hasWarned = false;
  const interrupt = (): void => {
    if (conversation.interrupt()) return;
    if (editor.text !== "") editor.clear();
    else if (hasWarned) conversation.exit(EXIT.interrupted);
    else {
      hasWarned = true;
      conversation.note("Press Ctrl-C again to exit.");
    }
  };
  const editor = stack.use(
    new LineEditor({
      stdin,
      stdout,
      style,
      history,
      completions: SLASH_WORDS,
      placeholder: "Send a message, or /help",
      onInterrupt: interrupt,
      onEnd: () => conversation.exit(),
      onChange: () => output.update(),
      onLine: (line) => {
        hasWarned = false;
        if (line.trim() !== "") void historyFile.add(line);
        void conversation.submit(line);
      },
    }),
  );
  terminal.editor = editor;
  stack.use(lifetime.onInterrupt(interrupt));
  output.setRows(() => {
    const above = view.rows();
    const { rows, cursor } = editor.rows(output.columns);
    const separator = above.length > 0 ? [] : [""];
    const before = [...separator, ...above];
    return { rows: [...before, ...rows], cursor: { ...cursor, row: cursor.row + before.length } };
  });
  const ticker = setInterval(() => output.update(), STATUS_INTERVAL_MS).unref();
  stack.defer(() => clearInterval(ticker));
  if (firstInput !== undefined) await conversation.send(firstInput);
  try {
    await conversation.exited;
  } finally {
    // Erase the editor's rows before codex is closed.
    editor[Symbol.dispose]();
    view.end();
    output.setRows(() => ({ rows: [] }));
    view.block([
      style.dim(
        `Continue with: codexkit chat${options.demo ? " --demo" : ""} --resume ${conversation.thread.id}`,
      ),
    ]);
    output.flush();
  }
}
