import type { SessionEvent } from "../../src/api/event.ts";
import type { Session } from "../../src/api/session.ts";
import type { FleetClient } from "./fleet-client.ts";
import type { FleetNode } from "./fleet-node.ts";
import { COMPACTION, type WorkKind } from "./work-script.ts";

export interface StartedWork {
  readonly sessions: readonly string[];
  /** The IDs of the messages whose turn or compaction waits until its gate opens. */
  readonly held: readonly string[];
  /** The session that waits for an approval. */
  readonly asking: string;
  /** The sessions that can't become idle before `finishWork`. */
  readonly waiting: readonly string[];
}

const KINDS: readonly WorkKind[] = ["say", "hold", "slow", "ask", "steps", "compact"];

let works = 0;

export interface StartWorkOptions {
  /** Default: the first node. */
  readonly via?: FleetNode;
  /** Default: creates the sessions via that node. */
  readonly create?: (settings: Parameters<FleetClient["create"]>[0]) => Promise<Session>;
}

/**
 * Starts one session for each state of a turn: idle, during deltas, during a command, at an approval, between two commands, during
 * a compaction.
 */
export async function startWork(
  client: FleetClient,
  { via, create = (settings) => client.create(settings, via) }: StartWorkOptions = {},
): Promise<StartedWork> {
  works += 1;
  const work = String(works);
  const held = [`hold${work}`, `compact${work}`];
  for (const id of held) client.fleet.script.gate(id);
  const sessions = await Promise.all(
    KINDS.map(async (kind) => {
      const { id, threadId } = await create({ permissionMode: kind === "ask" ? "read-only" : "bypass" });
      await client.send(id, `${kind} ${kind}${work}`, via);
      await client.event(id, (event) => hasArrived(kind, event));
      if (kind === "compact") {
        await client.idle(id);
        await client.compact(id, via);
        await client.fleet.model.findRequest(
          (request) => request.threadId === threadId && request.lastUserText.startsWith(COMPACTION),
        );
      }
      return id;
    }),
  );
  const [asking = "", holding = "", compacting = ""] = (["ask", "hold", "compact"] as const).map(
    (kind) => sessions[KINDS.indexOf(kind)],
  );
  return { sessions, held, asking, waiting: [asking, holding, compacting] };
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
  for (const id of held) client.fleet.script.gate(id).open();
  await client.answerAll(asking);
}
