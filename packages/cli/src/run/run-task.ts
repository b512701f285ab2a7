import type { JsonSchema, Turn, TurnResult } from "codexkit";
import { access, constants, readFile, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { openCodex, requireCredentials } from "../codex/open-codex.ts";
import type { RunCommandOptions } from "./thread-options.ts";
import type { CliContext } from "../context.ts";
import { CliError, EXIT, SilentExit, usageError } from "../errors/cli-error.ts";
import { lifetime } from "../process/lifetime.ts";
import { createApprovalHandlers } from "./approvals.ts";
import { checkModel } from "./check-model.ts";
import { loadPolicy } from "./load-policy.ts";
import { collaborationModeOf, openThread, resolveFolder } from "./open-thread.ts";
import { readPrompt, separatePrompt, toInput } from "./read-prompt.ts";
import { createPrinter, type RunPrinter } from "./run-printer.ts";
import { TurnLimits } from "./turn-limits.ts";

/** Implements `codexkit run`: runs one turn to its end. */
export async function runTask(context: CliContext, words: string, given: RunCommandOptions): Promise<void> {
  const { prompt: argument, options } = separatePrompt(words, given);
  const cwd = resolveFolder(options);
  await checkOutput(options.output);
  const input = toInput(await readPrompt(argument, context), options.image);
  const outputSchema = await readSchema(options.outputSchema);
  // Report an invalid policy before anything is started. The default policy is loaded when it is needed.
  const policy = (options.policy ?? options.allow) ? await loadPolicy(options, cwd) : undefined;

  await using stack = new AsyncDisposableStack();
  const limits = stack.use(new TurnLimits(options));
  const printer = stack.use(createPrinter(context, { cwd, budget: options.budget }));
  const { codex } = stack.use(await openCodex(options, { cwd, signal: context.signal }));
  const prompts = await printer.openPrompts();
  const denials: string[] = [];
  const handlers = {
    ...createApprovalHandlers({
      cwd,
      loadPolicy: async () => policy ?? loadPolicy(options, cwd),
      ask: prompts?.askAboutApproval,
      onDecision: ({ decision, reason, decidedBy }) => {
        if (decision === "deny") denials.push(reason);
        if (decision === "deny" || decidedBy === "policy") printer.reportDecision(decision, reason);
      },
    }),
    ...(prompts ? { userInput: prompts.answerQuestions, elicitation: prompts.answerForm } : {}),
  };
  const [thread] = await Promise.all([
    openThread(codex, context, { options, cwd, handlers }),
    requireCredentials(codex, context.signal),
  ]);
  await checkModel(options, { codex, thread, signal: context.signal });
  printer.reportThread(thread);
  const collaborationMode = collaborationModeOf(options, thread);
  const turn = thread.run(input, {
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(collaborationMode ? { collaborationMode } : {}),
    signal: AbortSignal.any([context.signal, limits.signal]),
  });
  const interruption = stack.use(interruptByKey(turn, printer));
  const result = await followTurn(turn, printer, limits);
  printer.reportEnd(result, `thread ${result.threadId}`);
  if (options.output !== undefined) await writeMessage(options.output, result.finalResponse);
  limits.checkEnd(result.turnId, result.usage);
  if (denials.length > 0 && !interruption.isInterrupted) throw deniedError(denials, context);
  if (interruption.isInterrupted || result.status === "interrupted") throw new SilentExit(EXIT.interrupted);
}

/** Handles Ctrl-C: the first one interrupts the turn, the second one exits. */
function interruptByKey(
  turn: Turn<unknown>,
  printer: RunPrinter,
): Disposable & { readonly isInterrupted: boolean } {
  let isInterrupted = false;
  const handler = lifetime.onInterrupt(() => {
    if (isInterrupted) {
      lifetime.end(EXIT.interrupted);
      return;
    }
    isInterrupted = true;
    printer.setActivity("interrupting; press Ctrl-C again to exit");
    // If the interrupt fails, a second Ctrl-C exits.
    turn.interrupt().catch(() => undefined);
  });
  return {
    get isInterrupted() {
      return isInterrupted;
    },
    [Symbol.dispose]: () => handler[Symbol.dispose](),
  };
}

async function followTurn(turn: Turn<unknown>, printer: RunPrinter, limits: TurnLimits): Promise<TurnResult> {
  try {
    for await (const event of turn) {
      limits.observe(event);
      printer.handle(event);
    }
    return await turn;
  } catch (error) {
    throw limits.exceeded ?? error;
  }
}

export function deniedError(denials: readonly string[], { isInteractive }: CliContext): CliError {
  const hint = isInteractive
    ? undefined
    : "Allow it with --allow or --policy, or run the task in a terminal to be asked.";
  return new CliError(EXIT.denied, `Denied: ${[...new Set(denials)].join("; ")}.`, { hint });
}

async function readSchema(file: string | undefined): Promise<JsonSchema | undefined> {
  if (file === undefined) return undefined;
  try {
    return JSON.parse(await readFile(file, "utf8")) as JsonSchema;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw usageError(
      `The schema ${file} can't be read: ${code ?? message}.`,
      "Pass a JSON Schema with --output-schema.",
    );
  }
}

/** Checks before the task starts whether its last message can be written. */
export async function checkOutput(file: string | undefined): Promise<void> {
  if (file === undefined) return;
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw usageError(`${file} is a folder.`, "Name a file with -o.");
  try {
    await access(found ? file : dirname(file), constants.W_OK);
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    throw usageError(`The file ${file} can't be written (${code}).`, "Choose another file with -o.");
  }
}

export async function writeMessage(file: string, message: string): Promise<void> {
  try {
    await writeFile(file, message);
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    throw new CliError(EXIT.failed, `The last message can't be written to ${file} (${code}).`);
  }
}
