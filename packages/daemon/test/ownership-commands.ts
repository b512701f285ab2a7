// Random operations on ownership, also of nodes that have lost their lease and of owners that were replaced.
import fc from "fast-check";
import type { Owner } from "../src/fleet/ownership-machine.ts";
import type { OwnershipStore } from "./ownership-stores.ts";

const NAMES = ["a", "b", "c"] as const;
const MAX_SESSIONS = 4;
/** From far below the default affinity to beyond the default lease. */
const WAITS_MS = [500, 1_500, 10_000, 31_000] as const;

export type OwnershipCommand =
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "work"; readonly session: number }
  | { readonly type: "register"; readonly name: (typeof NAMES)[number] }
  | { readonly type: "renew"; readonly boot: number; readonly isDraining: boolean }
  | { readonly type: "retire"; readonly boot: number }
  | {
      readonly type: "claim";
      readonly boot: number;
      readonly mayTakeOver: boolean;
      readonly readyLimit: number;
    }
  | { readonly type: "write" | "finish" | "release"; readonly owner: number };

/** Recent boots and owners are more likely than older ones. */
const recent = fc.nat({ max: 3 });

const command: fc.Arbitrary<OwnershipCommand> = fc.oneof(
  { arbitrary: fc.record({ type: fc.constant("wait"), ms: fc.constantFrom(...WAITS_MS) }), weight: 3 },
  {
    arbitrary: fc.record({ type: fc.constant("work"), session: fc.nat({ max: MAX_SESSIONS - 1 }) }),
    weight: 3,
  },
  { arbitrary: fc.record({ type: fc.constant("register"), name: fc.constantFrom(...NAMES) }), weight: 2 },
  { arbitrary: fc.record({ type: fc.constant("renew"), boot: recent, isDraining: fc.boolean() }), weight: 2 },
  { arbitrary: fc.record({ type: fc.constant("retire"), boot: recent }), weight: 1 },
  {
    arbitrary: fc.record({
      type: fc.constant("claim"),
      boot: recent,
      mayTakeOver: fc.boolean(),
      readyLimit: fc.constantFrom(1, 2, 100),
    }),
    weight: 6,
  },
  { arbitrary: fc.record({ type: fc.constantFrom("write", "finish"), owner: recent }), weight: 4 },
  { arbitrary: fc.record({ type: fc.constant("release"), owner: recent }), weight: 3 },
);

export function ownershipCommands(maxCommands: number): fc.Arbitrary<readonly OwnershipCommand[]> {
  return fc.array(command, { minLength: maxCommands / 2, maxLength: maxCommands, size: "max" });
}

/** Carries out the commands. Reads the whole state after each of them, which a store can compare with a model. */
export async function walkOwnership(
  commands: readonly OwnershipCommand[],
  store: OwnershipStore,
): Promise<void> {
  const boots: { readonly nodeId: string; readonly name: string }[] = [];
  const sessions: string[] = [];
  const owners: Owner[] = [];
  for (const name of NAMES) boots.push({ nodeId: await store.register(name), name });
  for (const next of commands) {
    // No two sessions become ready at the same time, because their order would be undefined.
    await store.advance(1);
    switch (next.type) {
      case "wait":
        await store.advance(next.ms);
        break;
      case "work": {
        const sessionId = sessions[next.session];
        if (sessionId === undefined) sessions.push(await store.addSession());
        else await store.addWork(sessionId);
        break;
      }
      case "register":
        boots.push({ nodeId: await store.register(next.name), name: next.name });
        break;
      case "renew": {
        const boot = boots.at(-1 - next.boot);
        if (boot) await store.renew(boot.nodeId, next.isDraining);
        break;
      }
      case "retire": {
        const boot = boots.at(-1 - next.boot);
        if (boot) await store.retire(boot.nodeId);
        break;
      }
      case "claim": {
        const boot = boots.at(-1 - next.boot);
        const { mayTakeOver, readyLimit } = next;
        if (boot) owners.push(...(await store.claim({ ...boot, mayTakeOver, readyLimit })));
        break;
      }
      default: {
        const owner = owners.at(-1 - next.owner);
        if (owner) await store[next.type](owner);
      }
    }
    await store.snapshot();
  }
  for (const { nodeId } of boots) await store.ownedBy(nodeId);
}
