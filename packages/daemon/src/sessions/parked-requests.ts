import { CodexError, type JsonValue } from "codexkit";
import type { AppServerLease } from "../codex/pool.ts";
import type { Ownership } from "../database/ownership.ts";
import type { ParkedApproval, ParkedProgress } from "../inbox/parked-inbox.ts";
import { type AnsweredRequest, chooseStrategies, toAnswered } from "../parking/choose-strategy.ts";
import { findCall } from "../parking/open-work.ts";
import { type CallOutput, toItem } from "../parking/outputs.ts";
import { perform } from "../parking/perform.ts";
import { agentReport, refusal, reportFor, siblingReport } from "../parking/reports.ts";
import { type CutFile, restoreThread } from "../parking/restore-thread.ts";
import {
  findOpenCalls,
  hasContinued,
  hasResponded,
  lengthAtRequest,
  type ModelCall,
  startOfResponse,
} from "../parking/rollout-lines.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import { permissionsOf, sandboxPolicyOf } from "./map-settings.ts";
import { isLost } from "./problems.ts";
import type { RolloutShipper } from "./rollout-shipper.ts";
import type { SessionDeps } from "./session-deps.ts";
import type { SessionState } from "./session-state.ts";
import { turnSettings } from "./turn-settings.ts";

export interface ParkedRequestsDeps {
  readonly session: SessionDeps;
  readonly owner: Ownership;
  readonly state: SessionState;
  readonly rollouts: RolloutShipper;
  readonly load: () => Promise<LoadedThread>;
  /** Closes the thread if it is loaded. */
  readonly unload: () => Promise<void>;
  readonly isBusy: () => boolean;
}

/** The session's thread as it was while its requests waited. */
interface WaitingThread {
  readonly rolloutId: string;
  readonly file: Uint8Array;
  readonly calls: readonly ModelCall[];
}

const NOTES = {
  inject: "The open call got its output, and a new turn went on.",
  rewind: "The model decided again, and asked for the same.",
  report: "The model was told what is known, and a new turn went on.",
} as const;

const STOPPED = "This call was begun, and stopped before its end. What it did until then stays.";

/** Brings the answers of a session's parked requests to the model, each once, whatever ends in between. */
export class ParkedRequests {
  readonly #deps: ParkedRequestsDeps;
  /** False if the session is known to have none. */
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

  /** Whether requests of this session wait without a process. */
  async exist(): Promise<boolean> {
    return (await this.#rows()).some(({ progress }) => progress.isContinued !== true);
  }

  /** Whether an answer could not be delivered after several attempts. */
  get hasGivenUp(): boolean {
    return this.#failures >= this.#deps.session.limits.loadAttempts;
  }

  /**
   * Delivers the answers if all parked requests have theirs. What was asked together is delivered together.
   *
   * @param stop Ends what is carried out, and starts no turn. The rest is left for another delivery, or for `end`.
   */
  async deliver(stop: AbortSignal): Promise<void> {
    const { session, owner, isBusy } = this.#deps;
    if (!this.#mayExist || this.hasGivenUp || isBusy()) return;
    await session.database.inbox.expire(owner);
    const rows = await this.#rows();
    const continued = rows.filter(({ progress }) => progress.isContinued === true);
    const fresh = rows.filter((row) => !continued.includes(row));
    if (rows.length === 0 || fresh.some(({ state }) => state === "parked")) return;
    try {
      if (fresh.length === 0) {
        await this.#resumeDelivery(continued);
      } else {
        // The turn that went on has asked for something else, and was parked in turn.
        await this.#close(continued);
        await this.#beginDelivery(fresh, stop);
      }
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      throw error;
    }
  }

  /**
   * Ends the requests that no turn goes on with. With `report`, or if something of them was begun, the thread is loaded, and its
   * open calls are answered with what is known; otherwise Codex treats them as interrupted.
   */
  async end(note: string, how: "report" | "interrupt"): Promise<void> {
    const rows = await this.#rows();
    if (rows.length === 0) return;
    const { inbox, parked } = this.#deps.session.database;
    const begun = rows.filter(({ progress }) => progress.action !== undefined);
    const thread = how === "report" || begun.length > 0 ? await this.#waitingThread(rows) : undefined;
    if (thread) {
      const loaded = await this.#restore(rows, thread, thread.file.length);
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

  /** Closes requests that the model was made to decide about again, and did not repeat before its turn ended. */
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
    const thread = await this.#waitingThread(rows);
    if (!thread) {
      await this.end("The thread's file is not stored, so that it can't be continued.", "interrupt");
      return;
    }
    const requests = rows.map((row) => toAnswered(row, thread.calls));
    if (requests.some(({ isCancelled }) => isCancelled)) {
      await this.#restore(rows, thread, thread.file.length);
      await session.database.parked.finish(owner, rows, "The turn was stopped by the answer.");
      return;
    }
    const strategies = chooseStrategies(requests, {
      rootThreadId: state.threadId ?? "",
      isRemote: state.setup.environment !== undefined,
    });
    const chosen = requests.map((request, index) => ({
      ...request,
      row: {
        ...request.row,
        progress: { ...request.row.progress, strategy: strategies[index] ?? "report" },
      },
    }));
    await (strategies.includes("rewind")
      ? this.#rewind(chosen, thread, stop)
      : this.#answerCalls(chosen, thread, stop));
  }

  /** The model decides again. Its request is recognised when it arrives. */
  async #rewind(
    requests: readonly AnsweredRequest[],
    thread: WaitingThread,
    stop: AbortSignal,
  ): Promise<void> {
    const [first] = thread.calls;
    const cutBytes = first ? startOfResponse(thread.file, first) : thread.file.length;
    const rows = requests.map(({ row }) => row);
    const loaded = await this.#restore(rows, thread, cutBytes);
    if (!stop.aborted) await this.#continue(loaded, rows, cutBytes);
  }

  /** Gives every open call an output, in the order of the calls. */
  async #answerCalls(
    requests: readonly AnsweredRequest[],
    thread: WaitingThread,
    stop: AbortSignal,
  ): Promise<void> {
    const loaded = await this.#restore(
      requests.map(({ row }) => row),
      thread,
      thread.file.length,
    );
    const agents = requests.filter(({ row }) => row.thread_id !== loaded.thread.id);
    const items: unknown[] = [];
    const rows = new Map(requests.map(({ row }) => [row.id, row]));
    for (const call of thread.calls) {
      const inScript = requests.filter(({ script }) => script === call);
      const request = requests.find((asked) => asked.call === call);
      if (stop.aborted) return;
      if (request) {
        const { row, output } = await this.#outputFor(loaded, request, call, stop);
        rows.set(row.id, row);
        items.push(toItem(call, output));
      } else if (inScript.length > 0) {
        items.push(toItem(call, inScript.map((asked) => reportFor(asked)).join("\n")));
      } else {
        items.push(toItem(call, agents.length > 0 ? agentReport(agents) : siblingReport(call)));
      }
    }
    // The thread may have no open call, while an agent of it asked.
    if (items.length === 0) items.push(toMessage(agentReport(requests)));
    if (stop.aborted) return;
    await loaded.thread.inject(items as JsonValue[]);
    await this.#continue(loaded, [...rows.values()], thread.file.length);
  }

  /** What is begun is recorded before: after a crash, its outcome is unknown, and it is not repeated. */
  async #outputFor(
    loaded: LoadedThread,
    asked: AnsweredRequest,
    call: ModelCall,
    stop: AbortSignal,
  ): Promise<{ row: ParkedApproval; output: CallOutput }> {
    const { owner, state, session } = this.#deps;
    const { parked } = session.database;
    const { row, request, answer, isAccepted } = asked;
    const { strategy, action, output: stored } = row.progress;
    const withOutput = (output: CallOutput, more: Partial<ParkedProgress> = {}) => ({
      row: { ...row, progress: { ...row.progress, ...more, output } },
      output,
    });
    if (strategy === "report" || action === "begun") {
      return withOutput(reportFor(asked), { strategy: "report" });
    }
    if (action === "done") return { row, output: stored as CallOutput };
    const refused = refusal(request, answer, isAccepted);
    if (refused !== undefined) return withOutput(refused);
    const [begun = row] = await parked.record(owner, [row], { ...row.progress, action: "begun" });
    let output: CallOutput;
    try {
      output = await perform(request, call, {
        codex: loaded.codex,
        threadId: loaded.thread.id,
        cwd: state.cwd,
        sandbox: sandboxPolicyOf(permissionsOf(state.settings).sandbox),
        signal: stop,
      });
    } catch (error) {
      if (!CodexError.is(error) || isLost(error)) throw error;
      output = stop.aborted ? STOPPED : `failed: ${error.message}`;
    }
    const [done = begun] = await parked.record(owner, [begun], { action: "done", output });
    return { row: done, output };
  }

  /** Starts the turn that goes on. From here on, the file is not cut again. */
  async #continue(loaded: LoadedThread, rows: readonly ParkedApproval[], cutBytes: number): Promise<void> {
    const { owner, session, state } = this.#deps;
    const { parked } = session.database;
    const recorded = await parked.record(owner, rows, { isContinued: true, cutBytes });
    await this.#startTurn(loaded);
    loaded.agentMode = state.settings.agentMode;
    await this.#finishOthers(recorded);
  }

  /** Requests that may be repeated are closed when they are, or with the turn. */
  async #finishOthers(rows: readonly ParkedApproval[]): Promise<void> {
    const { owner, session } = this.#deps;
    const ended = rows.filter((row) => !this.#mayBeRepeated(row));
    for (const strategy of ["inject", "report"] as const) {
      const same = ended.filter(({ progress }) => progress.strategy === strategy);
      if (same.length > 0) await session.database.parked.finish(owner, same, NOTES[strategy]);
    }
    this.#mayExist = ended.length < rows.length;
  }

  /** Whether the model may ask for the same again, and then gets the stored answer. */
  #mayBeRepeated({ progress, kind, thread_id: threadId }: ParkedApproval): boolean {
    if (progress.strategy === "rewind") return true;
    return kind === "elicitation" || threadId !== this.#deps.state.threadId;
  }

  async #startTurn(loaded: LoadedThread): Promise<void> {
    const { state } = this.#deps;
    await loaded.thread.run([], turnSettings(state, loaded)).id;
  }

  /** After a crash of the turn that went on, or shortly before it. */
  async #resumeDelivery(rows: readonly ParkedApproval[]): Promise<void> {
    const loaded = await this.#deps.load();
    if (loaded.thread.busy) return;
    const file = (await this.#deps.rollouts.contents(loaded.thread.id)) ?? new Uint8Array();
    const from = Math.min(...rows.map(({ progress }) => progress.cutBytes ?? file.length));
    const isRewound = rows.some(({ progress }) => progress.strategy === "rewind");
    if (isRewound ? hasResponded(file, from) : hasContinued(file, from)) {
      await this.#close(rows);
      return;
    }
    if (!isRewound) {
      // The file may be that of another machine, which the injected outputs did not reach.
      const open = findOpenCalls(file);
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

  async #close(rows: readonly ParkedApproval[]): Promise<void> {
    const { owner, session } = this.#deps;
    const { inbox, parked } = session.database;
    const unused = rows.filter(({ progress }) => progress.strategy === "rewind");
    const reported = rows.filter((row) => !unused.includes(row));
    if (reported.length > 0) await parked.finish(owner, reported, NOTES.report);
    for (const { id } of unused) {
      await inbox.withdraw(owner, id, "The model decided again, and did not ask for the same.");
    }
  }

  /** The thread as it was while its requests waited. Undefined if its file is not stored. */
  async #waitingThread(rows: readonly ParkedApproval[]): Promise<WaitingThread | undefined> {
    const { session, state, owner } = this.#deps;
    const { rollouts } = session.database;
    const files = await rollouts.lineage(owner.sessionId);
    // A revert continues a thread in another file; the newest has the request.
    const main = files
      .filter(({ role }) => role === "main")
      .toSorted((a, b) => compare(a.id, b.id))
      .at(-1);
    const data = main && (await rollouts.read(main.id));
    if (!main || !data) return undefined;
    const lengths = rows.flatMap(({ thread_id: threadId, rollout_bytes: bytes, progress }) => {
      const length = threadId === state.threadId ? bytes : progress.rootBytes;
      return length === null || length === undefined ? [] : [length];
    });
    const end = lengths.length === 0 ? data.length : lengthAtRequest(data, Math.min(...lengths));
    const file = data.subarray(0, end);
    return { rolloutId: main.id, file, calls: findOpenCalls(file) };
  }

  /** Puts the files into this daemon's Codex home, the thread's own cut at a byte, and loads the thread. */
  async #restore(
    rows: readonly ParkedApproval[],
    { rolloutId, file }: WaitingThread,
    cutBytes: number,
  ): Promise<LoadedThread> {
    const { session, state, owner, rollouts, load, unload } = this.#deps;
    const { database, pool, codexHome } = session;
    const { sessionId, threadId = "", setup } = state;
    await unload();
    const cuts: CutFile[] = [{ rolloutId, data: file.subarray(0, cutBytes) }];
    for (const row of rows.filter(({ thread_id: id }) => id !== threadId)) {
      const data = await database.rollouts.read(row.thread_id);
      if (!data || row.rollout_bytes === null) continue;
      cuts.push({
        rolloutId: row.thread_id,
        data: data.subarray(0, lengthAtRequest(data, row.rollout_bytes)),
      });
    }
    using lease: AppServerLease = await pool.acquire({ sessionId, dedicated: setup.dedicated === true });
    const { codex } = lease.server;
    await restoreThread(codex, { threadId, sessionId, codexHome, rollouts: database.rollouts, cuts });
    await database.parked.record(owner, [], {}, async (trx) => {
      for (const cut of cuts) await database.rollouts.truncate(trx, cut.rolloutId, cut.data.length);
    });
    rollouts.forget();
    return await load();
  }
}

function toMessage(text: CallOutput): unknown {
  return { type: "message", role: "developer", content: [{ type: "input_text", text }] };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}
