import { type Accessor, createSignal, onCleanup, onMount } from "solid-js";
import { announce } from "../ui/index.ts";
import { ARM_MS, ArmGate } from "./arm-gate.ts";

/** How often a card checks whether it has moved. Each press checks it too, so this only delays when the card becomes ready again. */
const CHECK_MS = 100;

export interface CardGate {
  /** Whether the card and its buttons have stayed in their place for long enough. */
  readonly isSettled: Accessor<boolean>;
  /** Whether a key may act on the card now. */
  readonly admits: (event: KeyboardEvent) => boolean;
  readonly handleFocus: (event: FocusEvent) => void;
}

/**
 * Protects a card from presses that were meant for something else. Whatever moves the card or its buttons, such as a neighbour
 * that shrinks, makes it unsettled for 400 ms: for the mouse, touch and keys. Buttons that answer (those with `aria-disabled`) also
 * need the pointer to have been pressed down on this card while it was settled. A press that is refused is announced, and the
 * button blinks. Requests no frames.
 */
export function createCardGate(card: () => HTMLElement): CardGate {
  const gate = new ArmGate(performance.now());
  const [isSettled, setIsSettled] = createSignal(false);
  let place: readonly number[] = [];
  /** The button on which the pointer was pressed down while the card was settled. */
  let pressed: Element | null = null;

  function checkPlace(): boolean {
    const now = performance.now();
    const next = [card(), ...card().querySelectorAll("button[aria-disabled]")].flatMap((element) => {
      const { top, left, width } = element.getBoundingClientRect();
      return [top, left, width];
    });
    if (next.length !== place.length || next.some((value, at) => Math.abs(value - (place[at] ?? 0)) >= 1)) {
      gate.disarm(now);
      place = next;
    }
    return setIsSettled(gate.isStill(now));
  }

  const handleDown = ({ target }: Event): void => {
    const isOwn = checkPlace() && card().contains(target as Node);
    pressed = isOwn ? (target as Element).closest("[aria-disabled]") : null;
  };

  /** Runs before the handlers of the buttons. A click without a pointer, as of Space or a screen reader, has no detail. */
  const handleClick = (event: MouseEvent): void => {
    // What the click changes in the card may move its buttons.
    setTimeout(checkPlace);
    const button = (event.target as Element).closest("[aria-disabled]");
    if (!button) return;
    // The focus that the press moves may scroll the page before the click.
    const admits = event.detail === 0 ? checkPlace() : pressed === button;
    pressed = null;
    if (admits) return;
    event.stopImmediatePropagation();
    // A press that has no effect looks like a broken button.
    announce("The request has just moved. Press again.");
    button.animate({ opacity: [0.2, 1] }, ARM_MS);
  };

  onMount(() => {
    checkPlace();
    const watching = setInterval(checkPlace, CHECK_MS);
    document.addEventListener("pointerdown", handleDown, true);
    card().addEventListener("click", handleClick, true);
    onCleanup(() => {
      clearInterval(watching);
      document.removeEventListener("pointerdown", handleDown, true);
    });
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
      gate.disarmKeys(performance.now());
    },
  };
}

function takesKeys(target: HTMLElement): boolean {
  if (target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT") return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type);
}
