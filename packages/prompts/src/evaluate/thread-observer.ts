import type { CodexEvent, Thread } from "codexkit";
import type { Budget } from "../limits/budget.ts";
import { ToolInvoked } from "../session/session-event.ts";
import type { EvaluationReporter } from "./evaluation-reporter.ts";
import { mayChangeFiles, toNativeCall } from "../transcript/native-tools.ts";
import type { StopControl } from "./stop-control.ts";
import type { UsageLedger } from "./usage-ledger.ts";

export interface ObserverParts {
  readonly evaluationId: string;
  readonly prompt: string;
  readonly usage: UsageLedger;
  readonly budget: Budget | undefined;
  readonly stop: StopControl;
  readonly reporter: EvaluationReporter;
}

/** Reads the events of a thread and its agents. Counts tokens, reports Codex's own tool calls and tracks running activity. */
export class ThreadObserver {
  readonly #parts: ObserverParts;
  readonly #running = new Set<string>();
  #started = 0;
  #stopReading: (() => Promise<void>) | undefined;

  constructor(parts: ObserverParts) {
    this.#parts = parts;
  }

  /** Number of commands, patches and MCP calls that have started so far, and of those that are running. */
  get activity(): { readonly started: number; readonly running: number } {
    return { started: this.#started, running: this.#running.size };
  }

  observe(thread: Thread): void {
    const events = thread.events({ agents: true });
    const { model } = thread.settings;
    const reading = (async () => {
      for await (const event of events) this.#onEvent(event, model);
    })();
    // A reducer of the session may throw. `stop` reports it.
    reading.catch(() => {});
    this.#stopReading = async () => {
      await events.return?.();
      await reading;
    };
  }

  async stop(): Promise<void> {
    await this.#stopReading?.();
  }

  #onEvent(event: CodexEvent, model: string): void {
    const { usage, budget, stop, reporter, evaluationId, prompt } = this.#parts;
    reporter.reportEvent(event);
    if (usage.record(event)) {
      budget?.record(evaluationId, model, usage.total);
      stop.checkBudget();
    } else if (event.type === "item.started" && mayChangeFiles(event.item)) {
      this.#started += 1;
      this.#running.add(event.item.id);
    } else if (event.type === "item.completed") {
      this.#running.delete(event.item.id);
      const call = toNativeCall(event.item);
      if (call) reporter.dispatch(ToolInvoked({ evaluationId, prompt, callId: event.item.id, ...call }));
    }
  }
}
