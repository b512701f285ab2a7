import { BoundedMap } from "@codexkit/rpc/async";

/**
 * On whose behalf a client connects, such as a session of a daemon, and in which epoch. A successor that
 * takes over connects with a higher epoch.
 */
export interface EpochClaim {
  readonly subject: string;
  /** A non-negative safe integer. */
  readonly epoch: number;
}

interface Member {
  readonly epoch: number;
  readonly cutOff: () => void;
}

interface Subject {
  highest: number;
  readonly members: Set<Member>;
}

/** Keeps all connections of a subject in the same epoch: the highest that has been seen. */
export class EpochFence {
  readonly #connected = new Map<string, Subject>();
  /** The highest epochs of subjects without a connection. */
  readonly #remembered: BoundedMap<string, number>;

  constructor(rememberedSubjects: number) {
    this.#remembered = new BoundedMap(rememberedSubjects);
  }

  /** The epoch that has replaced this one, if any. */
  newerEpoch({ subject, epoch }: EpochClaim): number | undefined {
    const highest = this.#connected.get(subject)?.highest ?? this.#remembered.get(subject) ?? epoch;
    return highest > epoch ? highest : undefined;
  }

  /**
   * Adds a connection, and disconnects those with lower epochs before it returns. Returns a function that
   * removes the connection again, or undefined if a higher epoch has been seen.
   */
  admit(claim: EpochClaim, cutOff: () => void): (() => void) | undefined {
    if (this.newerEpoch(claim) !== undefined) return undefined;
    const { subject, epoch } = claim;
    const entry = this.#connected.get(subject) ?? { highest: epoch, members: new Set<Member>() };
    this.#connected.set(subject, entry);
    this.#remembered.delete(subject);
    entry.highest = epoch;
    const replaced = [...entry.members].filter((member) => member.epoch < epoch);
    const added: Member = { epoch, cutOff };
    entry.members.add(added);
    for (const member of replaced) member.cutOff();
    return () => {
      if (!entry.members.delete(added) || entry.members.size > 0) return;
      this.#connected.delete(subject);
      this.#remembered.set(subject, entry.highest);
    };
  }
}
