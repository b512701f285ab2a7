import { fail, gate, pause, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { launchCodex, SeededRandom } from "@codexkit/testing";
import { CodexError, type RunOptions, type Thread, type Turn, type WhenBusy } from "codexkit";
import { setTimeout as delay } from "node:timers/promises";

export interface ChaosOptions {
  readonly durationMs: number;
  /** Determines all random choices. The same seed makes the same choices; the timing of processes still differs. */
  readonly seed: number;
  readonly threads?: number;
}

/** The actions and outcomes of a run. */
export interface ChaosReport {
  readonly settled: number;
  /** How often each outcome was seen: `fulfilled`, or the code of the error. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly kills: number;
  readonly freezes: number;
}

const THREADS = 30;

/** How long everything may take to settle once there are no more faults and the model answers every request. */
const SETTLE_LIMIT_MS = 90_000;

/** Tracks every promise of the run until it settles. */
class Outstanding {
  readonly #open = new Map<Promise<unknown>, string>();
  readonly outcomes: Record<string, number> = {};
  readonly unexpected: string[] = [];
  settled = 0;

  /** Tracks a promise. Resolves when it has settled. */
  async follow(what: string, promise: Promise<unknown>): Promise<void> {
    this.#open.set(promise, what);
    let outcome = "fulfilled";
    try {
      await promise;
    } catch (error) {
      outcome = error instanceof CodexError ? error.code : "not a CodexError";
      if (!(error instanceof CodexError)) this.unexpected.push(`${what}: ${String(error)}`);
    }
    this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + 1;
    this.settled += 1;
    this.#open.delete(promise);
  }

  /** The promises that have not settled within the limit. */
  async leftAfter(limitMs: number): Promise<string[]> {
    const waiting = new AbortController();
    const limit = delay(limitMs, "late", { signal: waiting.signal }).catch(() => "done");
    while (this.#open.size > 0) {
      const all = Promise.allSettled(this.#open.keys());
      if ((await Promise.race([all, limit])) === "late") break;
    }
    waiting.abort();
    return [...this.#open.values()];
  }
}

/**
 * Threads on one real codex that start, queue, steer, interrupt, abort, close and resume at random, while codex is frozen,
 * continued and killed at random. Throws, with the seed, unless every promise settles and every error is a `CodexError`.
 */
export async function runChaos({ durationMs, seed, threads = THREADS }: ChaosOptions): Promise<ChaosReport> {
  const random = new SeededRandom(seed);
  const outstanding = new Outstanding();
  const calm = gate();
  const script: ScriptFunction = ({ lastUserText }) => {
    if (lastUserText.startsWith("hold")) return say(["half ", waitFor(calm)]);
    if (lastUserText.startsWith("slow")) return [pause(100), say("slowly")];
    if (lastUserText.startsWith("fail")) return [fail.http(400)];
    return say(`received: ${lastUserText}`);
  };
  await using stage = await launchCodex({ model: script, modelRetries: 0 });
  const { codex, workspace } = stage;
  const until = Date.now() + durationMs;
  const isOver = (): boolean => Date.now() >= until;

  const act = async (name: string, dice: SeededRandom): Promise<void> => {
    let thread: Thread | undefined;
    let threadId: string | undefined;
    const turns: Turn[] = [];
    for (let step = 0; !isOver(); step += 1) {
      await delay(dice.between(5, 250));
      const what = `thread ${name}, step ${step}: `;
      const track = (verb: string, promise: Promise<unknown>): void => {
        void outstanding.follow(what + verb, promise);
      };
      if (!thread) {
        const opening: Promise<Thread> =
          threadId === undefined ? codex.startThread({ cwd: workspace }) : codex.resumeThread(threadId);
        await outstanding.follow(`${what}open`, opening);
        thread = await opening.catch(() => undefined);
        threadId = thread?.id ?? threadId;
        continue;
      }
      const choice = dice.next();
      if (choice < 0.55) {
        const whenBusy = dice.pick<WhenBusy>(["reject", "steer", "queue", "queue", "wait"]);
        const text = dice.pick(["say", "say", "slow", "hold", "fail"]);
        const abortMs = dice.next() < 0.2 ? dice.between(1, 1_000) : undefined;
        const options: RunOptions = {
          whenBusy,
          ...(abortMs === undefined ? {} : { signal: AbortSignal.timeout(abortMs) }),
        };
        const turn = thread.run(`${text} ${name}.${step}`, options);
        turns.push(turn);
        track(`${whenBusy} ${text}`, turn.result());
        if (dice.next() < 0.3) track(`${whenBusy} ${text}, its events`, Array.fromAsync(turn));
      } else if (choice < 0.65) {
        track("steer", thread.steer(`say ${name}.${step}`));
      } else if (choice < 0.85) {
        track("interrupt", thread.interrupt());
      } else if (choice < 0.95) {
        const turn = turns[dice.between(0, turns.length)];
        if (turn !== undefined) track("interrupt a turn", turn.interrupt());
      } else {
        track("close", thread.close());
        thread = undefined;
        turns.length = 0;
      }
    }
  };

  let kills = 0;
  let freezes = 0;
  const disturb = async (dice: SeededRandom): Promise<void> => {
    while (!isOver()) {
      await delay(dice.between(200, 1_500));
      const { pid } = codex;
      if (pid === undefined) continue;
      try {
        // No server is killed at the end: a dead server would settle everything and hide a hanging promise.
        const isEarly = Date.now() < until - durationMs / 3;
        if (dice.next() < 0.3 && isEarly) {
          process.kill(pid, "SIGKILL");
          kills += 1;
        } else {
          process.kill(pid, "SIGSTOP");
          freezes += 1;
          await delay(dice.between(50, 1_500));
          process.kill(pid, "SIGCONT");
        }
      } catch {
        // It has just exited by itself.
      }
    }
  };

  const disturbing = disturb(random.fork());
  await Promise.all(Array.from({ length: threads }, (_, number) => act(String(number), random.fork())));
  await disturbing;
  calm.open();
  const left = await outstanding.leftAfter(SETTLE_LIMIT_MS);
  const { settled, outcomes, unexpected } = outstanding;
  if (left.length > 0 || unexpected.length > 0) {
    const problems = [...left.map((what) => `never settled: ${what}`), ...unexpected];
    throw new Error(`Chaos with seed ${seed}:\n  ${problems.join("\n  ")}`);
  }
  return { settled, outcomes, kills, freezes };
}

/** The seed to use: `CODEXKIT_CHAOS_SEED`, or a new one. */
export function chaosSeed(): number {
  const given = Number(process.env["CODEXKIT_CHAOS_SEED"]);
  return Number.isInteger(given) && given > 0 ? given : Math.floor(Math.random() * 2 ** 31) + 1;
}
