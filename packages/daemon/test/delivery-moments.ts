import type { Database } from "../src/database.ts";
import type { ParkedProgress } from "../src/inbox/parked-inbox.ts";
import type { Ownership } from "../src/database/ownership.ts";

/**
 * The writes of a delivery, in their order: `begin` shows the session as running, `cut` replaces the thread's file, `act` and
 * `result` enclose the action, `continue` precedes the turn, `submit` and `confirm` enclose the answer of a repeated request, and
 * `finish` closes the requests.
 */
export const WRITES = ["begin", "cut", "act", "result", "continue", "submit", "confirm", "finish"] as const;

/** A write of a delivery that is not carried out, or whose caller never learns that it was. */
export type Moment = `${"before" | "after"} ${(typeof WRITES)[number]}`;

type Method = (owner: Ownership, ...args: never[]) => Promise<unknown>;
type Writes<Name extends string> = Readonly<Record<Name, Method>>;

/**
 * Stops the deliveries of sessions at a moment, so that the process can be killed there. At `after finish`, no event of the turn
 * that continues is stored.
 *
 * @param moments By session ID.
 * @param onStalled Called when a session has reached its moment.
 */
export function stallDeliveries(
  { parked, inbox, journal }: Database,
  moments: Readonly<Record<string, string>>,
  onStalled: (sessionId: string) => void,
): void {
  const stallAt = <Name extends string>(
    object: Writes<Name>,
    name: Name,
    writeOf: (...args: never[]) => string | undefined,
  ): void => {
    const method = object[name];
    const stalling: Method = async (owner, ...args) => {
      const { sessionId } = owner;
      const write = writeOf(...args);
      const stall = (): Promise<never> => {
        onStalled(sessionId);
        return new Promise(() => {});
      };
      if (moments[sessionId] === `before ${write}`) return stall();
      const result = await method.call(object, owner, ...args);
      return moments[sessionId] === `after ${write}` ? stall() : result;
    };
    Object.assign(object, { [name]: stalling });
  };
  stallAt(parked, "beginDelivery", () => "begin");
  stallAt(parked, "record", (_rows: unknown, { isContinued, action }: ParkedProgress) => {
    if (isContinued === true) return "continue";
    if (action === undefined) return "cut";
    return action === "begun" ? "act" : "result";
  });
  stallAt(parked, "recordSubmission", () => "submit");
  stallAt(parked, "finish", () => "finish");
  stallAt(inbox, "delivered", () => "confirm");
  const enqueue = journal.enqueue.bind(journal);
  const lost = new Set<string>();
  const dropTurn: typeof enqueue = (owner, events, options) => {
    const { sessionId } = owner;
    if (moments[sessionId] === "after finish" && events.some(({ type }) => type === "turn.started")) {
      lost.add(sessionId);
    }
    if (!lost.has(sessionId)) enqueue(owner, events, options);
  };
  Object.assign(journal, { enqueue: dropTurn });
}
