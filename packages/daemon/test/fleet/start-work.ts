import type { SessionEvent } from "../../src/api/event.ts";
import type { FleetClient } from "./fleet-client.ts";
import type { FleetNode } from "./fleet-node.ts";
import type { WorkKind } from "./work-script.ts";

export interface StartedWork {
  readonly sessions: readonly string[];
  /** The ID of the work that is held until its gate opens. */
  readonly held: string;
  /** The session that waits for a person. */
  readonly asking: string;
}

const KINDS: readonly WorkKind[] = ["say", "hold", "slow", "ask", "steps"];

let works = 0;

/** Starts sessions that are at all the moments of a turn: idle, in deltas, in a command, at an approval, between two commands. */
export async function startWork(client: FleetClient, via?: FleetNode): Promise<StartedWork> {
  works += 1;
  const work = String(works);
  const sessions = await Promise.all(
    KINDS.map(async (kind) => {
      const { id } = await client.create({ permissionMode: kind === "ask" ? "read-only" : "bypass" }, via);
      await client.send(id, `${kind} ${kind}${work}`, via);
      await client.event(id, (event) => hasArrived(kind, event));
      return id;
    }),
  );
  return { sessions, held: `hold${work}`, asking: sessions[KINDS.indexOf("ask")] ?? "" };
}

function hasArrived(kind: WorkKind, event: SessionEvent): boolean {
  switch (kind) {
    case "hold":
      return event.type === "item.delta";
    case "ask":
      return event.type === "inbox.opened";
    case "slow":
    case "steps":
      return event.type === "item.started" && event.item.type === "commandExecution";
    default:
      return event.type === "turn.completed";
  }
}

/** Lets the work end that waits for the test. */
export async function finishWork(client: FleetClient, { held, asking }: StartedWork): Promise<void> {
  client.fleet.script.gate(held).open();
  await client.answerAll(asking);
}
