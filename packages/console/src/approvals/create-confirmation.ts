import { type Accessor, createSignal, onCleanup } from "solid-js";
import { ARM_MS } from "./arm-gate.ts";

/** After this time, a first press is forgotten. */
const FORGET_MS = 5_000;

export interface Confirmation {
  /** The offer that was pressed once. */
  readonly offerId: Accessor<string | null>;
  /** Handles a press. Returns whether it is the second one of the same offer, and not part of a double click. */
  readonly confirms: (offerId: string) => boolean;
  /** Requires two presses again. */
  readonly forget: () => void;
}

/** A confirmation by a second press, for requests that the policy would deny. */
export function createConfirmation(): Confirmation {
  const [offerId, setOfferId] = createSignal<string | null>(null);
  let pressedAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function forget(): void {
    clearTimeout(timer);
    setOfferId(null);
  }
  onCleanup(forget);

  return {
    offerId,
    confirms: (pressed) => {
      const now = performance.now();
      if (offerId() === pressed) {
        if (now - pressedAt < ARM_MS) return false;
        forget();
        return true;
      }
      forget();
      setOfferId(pressed);
      pressedAt = now;
      timer = setTimeout(forget, FORGET_MS);
      return false;
    },
    forget,
  };
}
