import { type Accessor, createSignal, onCleanup, onMount } from "solid-js";
import { ARM_MS, ArmGate } from "./arm-gate.ts";

/** How often a focused card checks whether it has moved. */
const CHECK_MS = 100;

export interface CardGate {
  /** Whether the card has been visible long enough for its buttons to be active. */
  readonly isSettled: Accessor<boolean>;
  /** Whether a key may act on the card now. */
  readonly admits: (event: KeyboardEvent) => boolean;
  readonly handleFocus: (event: FocusEvent) => void;
  readonly handleBlur: () => void;
}

/** Connects an `ArmGate` to a card. Observes the card's position while the card has the focus, without requesting frames. */
export function createCardGate(card: () => HTMLElement): CardGate {
  const gate = new ArmGate(performance.now());
  const [isSettled, setIsSettled] = createSignal(false);
  let place = { top: 0, left: 0 };
  let watching: ReturnType<typeof setInterval> | undefined;
  let settling: ReturnType<typeof setTimeout> | undefined;

  function checkPlace(): void {
    const { top, left } = card().getBoundingClientRect();
    if (Math.abs(top - place.top) >= 1 || Math.abs(left - place.left) >= 1) gate.disarm(performance.now());
    place = { top, left };
  }

  onMount(() => {
    gate.disarm(performance.now());
    checkPlace();
    settling = setTimeout(() => setIsSettled(true), ARM_MS);
  });
  onCleanup(() => {
    clearInterval(watching);
    clearTimeout(settling);
  });

  return {
    isSettled,
    admits: ({ repeat, isComposing, target }) => {
      checkPlace();
      const isInField = target instanceof HTMLElement && takesKeys(target);
      return gate.admits({ repeat, isComposing, isInField }, performance.now());
    },
    handleFocus: (event) => {
      const cameFrom = event.relatedTarget;
      if (cameFrom instanceof Node && card().contains(cameFrom)) return;
      // A key that was meant for the previous card must not act on this one.
      gate.disarm(performance.now());
      checkPlace();
      clearInterval(watching);
      watching = setInterval(checkPlace, CHECK_MS);
    },
    handleBlur: () => clearInterval(watching),
  };
}

function takesKeys(target: HTMLElement): boolean {
  if (target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT") return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type);
}
