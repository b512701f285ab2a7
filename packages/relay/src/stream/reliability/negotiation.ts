import { addOffer, takeOffer } from "./offer.ts";

/**
 * The transport mode of a stream. It starts as `offering` (harness) or `accepting` (executor). The first message from the other
 * end determines whether it becomes `reliable` or `plain`, which is Codex's own mode.
 */
type StreamMode = "offering" | "accepting" | "plain" | "reliable";

/** Agrees with the other end on the reliability extension, by the first message in each direction. */
export class Negotiation {
  readonly #onDecided: (mode: "plain" | "reliable") => void;
  #mode: StreamMode;
  #hasSent = false;
  #hasReceived = false;

  constructor(initial: StreamMode, onDecided: (mode: "plain" | "reliable") => void) {
    this.#mode = initial;
    this.#onDecided = onDecided;
  }

  get mode(): StreamMode {
    return this.#mode;
  }

  /** Whether the message that may carry an offer or an acceptance was sent. */
  get hasSent(): boolean {
    return this.#hasSent;
  }

  /** Adds an offer or an acceptance to the first message. */
  prepare(message: string | Uint8Array): string | Uint8Array {
    if (this.#hasSent || this.#mode === "plain" || this.#mode === "accepting") return message;
    const offer = addOffer(message);
    if (!offer) this.#decide("plain");
    return offer ?? message;
  }

  sent(): void {
    this.#hasSent = true;
  }

  /** Removes an offer or an acceptance from the first message. */
  receive(message: Buffer): Buffer {
    if (this.#hasReceived || this.#mode === "plain") return message;
    this.#hasReceived = true;
    const offer = takeOffer(message);
    // An executor that has already sent a message can no longer accept.
    const canAgree = this.#mode === "offering" || !this.#hasSent;
    this.#decide(offer.hasOffer && canAgree ? "reliable" : "plain");
    return offer.message;
  }

  #decide(mode: "plain" | "reliable"): void {
    this.#mode = mode;
    this.#onDecided(mode);
  }
}
