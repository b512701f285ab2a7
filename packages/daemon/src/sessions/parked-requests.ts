import type { JsonValue } from "codexkit";
import type { ParkedApproval } from "../inbox/parked-inbox.ts";
import { type AnsweredRequest, chooseStrategies, toAnswered } from "../parking/choose-strategy.ts";
import { findCall } from "../parking/open-work.ts";
import { type CallOutput, toItem, toMessage } from "../parking/outputs.ts";
import { reportFor, siblingReport } from "../parking/reports.ts";
import {
  findOpenCalls,
  hasCompleted,
  hasContinued,
  hasResponded,
  readLines,
  startOfResponse,
} from "../parking/rollout-lines.ts";
import { isRemembered } from "../policy/remembered-rules.ts";
import { endsOfRefused } from "./parked-items.ts";
import { answerCalls } from "./answer-calls.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import { isLost } from "./problems.ts";
import { prepareTurn } from "./turn-settings.ts";
import {
  readWaitingThread,
  restoreWaitingThread,
  type WaitingThread,
  type WaitingThreadDeps,
} from "./waiting-thread.ts";

export interface ParkedRequestsDeps extends WaitingThreadDeps {
  readonly isBusy: () => boolean;
  /** Called before the continuing turn is started, if an answer adds a rule to the session's policy. */
  readonly onRemembered: () => Promise<void>;
}

const NOTES = {
  inject: "The open call received its output, and a new turn continued.",
  rewind: "The model decided again, and sent the same request.",
  report: "The model was informed of the known outcome, and a new turn continued.",
} as const;

/** Delivers the answers of a session's parked requests to the model, each once, even if processes or nodes end in between. */
export class ParkedRequests {
  readonly #deps: ParkedRequestsDeps;
  /** False if the session is known to have no parked requests. */
  #mayExist = true;
  #failures = 0;

  constructor(deps: ParkedRequestsDeps) {
    this.#deps = deps;
  }

  /** Call after requests were parked. */
  changed(): void {
    this.#mayExist = true;
    this.#failures = 0;
  }

  /** Whether the session has parked requests that no turn has continued with. */
  async exist(): Promise<boolean> {
    return (await this.#rows()).some(({ progress }) => progress.isContinued !== true);
  }

  /** Whether an answer could not be delivered after several attempts. */
  get hasGivenUp(): boolean {
    return this.#failures >= this.#deps.session.limits.loadAttempts;
  }

  /**
   * Delivers the answers if all parked requests are answered. Requests that were parked together are delivered together.
   *
   * @param stop Stops the actions, and prevents the start of a turn. The rest is left for another delivery, or for `end`.
   */
  async deliver(stop: AbortSignal): Promise<void> {
    const { session, owner, isBusy } = this.#deps;
    if (!this.#mayExist || this.hasGivenUp || isBusy()) return;
    await session.database.inbox.expire(owner);
    const rows = await this.#rows();
    const continued = rows.filter(({ progress }) => progress.isContinued === true);
    const fresh = rows.filter((row) => !continued.includes(row));
    if (rows.length === 0 || fresh.some(({ state }) => state === "parked")) return;
    const { parked } = session.database;
    const endPhase = async (): Promise<void> => {
      if (!isBusy()) await parked.endDelivery(owner);
    };
    try {
      if (fresh.length === 0) {
        await this.#resumeDelivery(continued);
      } else {
        await parked.beginDelivery(owner);
        // The continued turn has asked for something else, and was itself parked.
        await this.#close(continued);
        await this.#beginDelivery(fresh, stop);
      }
      await endPhase();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      // The error of the delivery is the one that matters.
      await endPhase().catch(() => {});
      throw error;
    }
  }

  /**
   * Ends the requests without continuing the turn. With `report`, or if an action was started, the thread is loaded, and its open
   * calls are answered with what is known. Otherwise Codex treats the calls as interrupted.
   */
  async end(note: string, how: "report" | "interrupt"): Promise<void> {
    const rows = await this.#rows();
    if (rows.length === 0) return;
    const { inbox, parked } = this.#deps.session.database;
    const begun = rows.filter(({ progress }) => progress.action !== undefined);
    const thread =
      how === "report" || begun.length > 0 ? await readWaitingThread(rows, this.#deps) : undefined;
    if (thread) {
      const loaded = await restoreWaitingThread(rows, thread, thread.file.length, this.#deps);
      const items = thread.calls.map((call) => {
        const row = begun.find((asked) => findCall(asked, thread.calls) === call);
        if (!row) return toItem(call, siblingReport(call, note));
        const output = row.progress.output as CallOutput | undefined;
        return toItem(call, output ?? siblingReport(call));
      });
      if (items.length > 0) await loaded.thread.inject(items as JsonValue[]);
      if (begun.length > 0) await parked.finish(this.#deps.owner, begun, note);
    }
    for (const { id } of rows) await inbox.withdraw(this.#deps.owner, id, note);
    this.#mayExist = false;
  }

  /** Closes requests that the model did not repeat before its turn ended, although it was made to decide again. */
  async closeUnused(): Promise<void> {
    if (!this.#mayExist) return;
    const continued = (await this.#rows()).filter(({ progress }) => progress.isContinued === true);
    await this.#close(continued);
  }

  async #rows(): Promise<readonly ParkedApproval[]> {
    if (!this.#mayExist) return [];
    const rows = await this.#deps.session.database.parked.list(this.#deps.owner.sessionId);
    this.#mayExist = rows.length > 0;
    return rows;
  }

  async #beginDelivery(rows: readonly ParkedApproval[], stop: AbortSignal): Promise<void> {
    const { state, session, owner } = this.#deps;
    const thread = await readWaitingThread(rows, this.#deps);
    if (!thread) {
      await this.end("The thread's file is not stored, so that it can't be continued.", "interrupt");
      return;
    }
    const requests = rows.map((row) => toAnswered(row, thread.calls));
    if (requests.some(({ isCancelled }) => isCancelled)) {
      await restoreWaitingThread(rows, thread, thread.file.length, this.#deps);
      await session.database.parked.finish(owner, rows, "The turn was stopped by the answer.");
      return;
    }
    // An earlier delivery may have ended after it had removed the response from the file.
    const wasCut = requests.every(
      ({ row, call, script }) => row.progress.strategy === "rewind" && !call && !script,
    );
    const cutBytes = wasCut ? thread.file.length : startOfWaiting(thread);
    const strategies = wasCut
      ? rows.map(() => "rewind" as const)
      : chooseStrategies(requests, {
          // A fork that was made in the meantime continues the whole response.
          mayRewind: thread.continuedBytes <= cutBytes,
          rootThreadId: state.threadId ?? "",
          isRemote: state.setup.environment !== undefined,
          folder: state.cwd,
        });
    const chosen = requests.map((request, index) => ({
      ...request,
      row: {
        ...request.row,
        progress: {
          ...request.row.progress,
          strategy: strategies[index] ?? "report",
          ...(isRemembered(request.row) && { isRemembered: true }),
        },
      },
    }));
    await (strategies.includes("rewind")
      ? this.#rewind(chosen, thread, cutBytes, stop)
      : this.#answerCalls(chosen, thread, stop));
  }

  /** Makes the model decide again. Its repeated request is recognised when it arrives. */
  async #rewind(
    requests: readonly AnsweredRequest[],
    thread: WaitingThread,
    cutBytes: number,
    stop: AbortSignal,
  ): Promise<void> {
    const rows = requests.map(({ row }) => row);
    // Stored with the cut, because it can't be chosen again without the calls.
    const progress = { strategy: "rewind" } as const;
    const loaded = await restoreWaitingThread(rows, thread, cutBytes, this.#deps, progress);
    if (!stop.aborted) await this.#continue(loaded, rows, cutBytes);
  }

  async #answerCalls(
    requests: readonly AnsweredRequest[],
    thread: WaitingThread,
    stop: AbortSignal,
  ): Promise<void> {
    const rows = requests.map(({ row }) => row);
    const loaded = await restoreWaitingThread(rows, thread, thread.file.length, this.#deps);
    const answered = await answerCalls(loaded, requests, thread.calls, stop, this.#deps);
    if (!answered) return;
    await loaded.thread.inject(answered.items as JsonValue[]);
    await this.#continue(loaded, answered.rows, thread.file.length);
  }

  /** Starts the turn that continues. From here on, the file is not truncated again. */
  async #continue(loaded: LoadedThread, rows: readonly ParkedApproval[], cutBytes: number): Promise<void> {
    const { owner, session, state, rollouts } = this.#deps;
    const { parked } = session.database;
    const events = await endsOfRefused(session.database, owner.sessionId, rows);
    // Another node that takes over from here must find the injected outputs.
    const { also } = rollouts.collectAll();
    const started = { isContinued: true, cutBytes };
    const recorded = await parked.record(owner, rows, started, { events, ...(also && { also }) });
    if (rows.some(({ progress }) => progress.isRemembered === true)) await this.#deps.onRemembered();
    await this.#startTurn(loaded);
    loaded.agentMode = state.settings.agentMode;
    await this.#finishOthers(recorded);
  }

  /** Finishes the requests that can't be repeated. The others are closed when they are repeated, or with the turn. */
  async #finishOthers(rows: readonly ParkedApproval[]): Promise<void> {
    const { owner, session } = this.#deps;
    const ended = rows.filter((row) => !this.#mayBeRepeated(row));
    for (const strategy of ["inject", "report"] as const) {
      const same = ended.filter(({ progress }) => progress.strategy === strategy);
      if (same.length > 0) await session.database.parked.finish(owner, same, NOTES[strategy]);
    }
    this.#mayExist = ended.length < rows.length;
  }

  /** Whether the model may send the same request again, which then gets the stored answer. */
  #mayBeRepeated({ progress, kind, thread_id: threadId }: ParkedApproval): boolean {
    if (progress.strategy === "rewind") return true;
    return kind === "elicitation" || threadId !== this.#deps.state.threadId;
  }

  async #startTurn(loaded: LoadedThread): Promise<void> {
    const { owner, session, state, rollouts } = this.#deps;
    const turn = loaded.thread.run([], await prepareTurn(state, loaded));
    const turnId = await turn.id;
    // Codex writes the start of the turn to the file before it sends the first event.
    const events = turn[Symbol.asyncIterator]();
    const { value: first } = await events.next();
    await events.return?.();
    if (first?.type === "turn.failed" && isLost(first.error)) throw first.error;
    await session.database.parked.recordTurn(owner, turnId, rollouts.collectAll());
  }

  /** Resumes a delivery after a crash, which happened during the continued turn or shortly before it. */
  async #resumeDelivery(rows: readonly ParkedApproval[]): Promise<void> {
    const loaded = await this.#deps.load();
    if (loaded.thread.busy) return;
    const file = (await this.#deps.rollouts.contents(loaded.thread.id)) ?? new Uint8Array();
    const from = Math.min(...rows.map(({ progress }) => progress.cutBytes ?? file.length));
    const isRewound = rows.some(({ progress }) => progress.strategy === "rewind");
    if (isRewound ? hasResponded(file, from) && hasCompleted(file, from) : hasContinued(file, from)) {
      // The turn has already ended, so the session is not shown as running again.
      await this.#close(rows);
      return;
    }
    await this.#deps.session.database.parked.beginDelivery(this.#deps.owner);
    if (isRewound && hasResponded(file, from)) {
      await this.#reportCutOff(loaded, rows, { file, from });
      return;
    }
    if (!isRewound) {
      // The file may come from the store, which the injected outputs had not reached before the crash.
      const open = findOpenCalls(readLines(file));
      const lost = rows.flatMap((row) => {
        const call = findCall(row, open);
        const { output } = row.progress;
        return call && output !== undefined ? [toItem(call, output as CallOutput)] : [];
      });
      if (lost.length > 0) await loaded.thread.inject(lost as JsonValue[]);
    }
    await this.#startTurn(loaded);
    await this.#finishOthers(rows);
  }

  /**
   * Handles a process that ended after the model had decided again, but before it could ask. It is unknown what its calls did, so
   * they are not repeated, and the model is informed. If it then sends the same request, the stored answer counts.
   */
  async #reportCutOff(
    loaded: LoadedThread,
    rows: readonly ParkedApproval[],
    { file, from }: { readonly file: Uint8Array; readonly from: number },
  ): Promise<void> {
    const open = findOpenCalls(readLines(file));
    const report = rows.map((row) => reportFor(toAnswered(row, open))).join("\n");
    const items = open.length > 0 ? open.map((call) => toItem(call, report)) : [toMessage(report)];
    // An earlier delivery may have ended before it could record this.
    const isInformed = Buffer.from(file.subarray(from)).includes(JSON.stringify(report).slice(1, -1));
    if (!isInformed) await loaded.thread.inject(items as JsonValue[]);
    await this.#continue(loaded, rows, file.length);
  }

  async #close(rows: readonly ParkedApproval[]): Promise<void> {
    const { owner, session } = this.#deps;
    const { inbox, parked } = session.database;
    const unused = rows.filter(({ progress }) => progress.strategy === "rewind");
    const reported = rows.filter((row) => !unused.includes(row));
    if (reported.length > 0) await parked.finish(owner, reported, NOTES.report);
    for (const { id } of unused) {
      await inbox.withdraw(owner, id, "The model decided again, and did not send the same request.");
    }
  }
}

/** Returns the offset of the response whose requests wait. */
function startOfWaiting({ file, calls: [first] }: WaitingThread): number {
  return first ? startOfResponse(readLines(file), first) : file.length;
}
