import type { SessionEvent } from "../../src/api/event.ts";
import type { FleetClient } from "./fleet-client.ts";
import type { FleetNode } from "./fleet-node.ts";
import type { WorkKind } from "./work-script.ts";

export interface StartedWork {
  readonly sessions: readonly string[];
  /** The ID of the message whose turn waits until its gate opens. */
  readonly held: string;
  /** The session that waits for an approval. */
  readonly asking: string;
}

const KINDS: readonly WorkKind[] = ["say", "hold", "slow", "ask", "steps"];

let works = 0;

/** Starts one session for each state of a turn: idle, during deltas, during a command, at an approval, between two commands. */
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

/** Opens the gate and accepts the approval, so that all turns can end. */
export async function finishWork(client: FleetClient, { held, asking }: StartedWork): Promise<void> {
  client.fleet.script.gate(held).open();
  await client.answerAll(asking);
}
