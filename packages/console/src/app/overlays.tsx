import { createSignal, lazy, Show, Suspense } from "solid-js";
import "./overlays.css";

const Palette = lazy(async () => import("./palette.tsx"));
const KeySheet = lazy(async () => import("./key-sheet.tsx"));

const [overlay, setOverlay] = createSignal<"palette" | "keys">();

export function openPalette(): void {
  setOverlay("palette");
}

export function openKeySheet(): void {
  setOverlay("keys");
}

const close = (): void => {
  setOverlay(undefined);
};

/** Dialogs of the whole page. They are loaded when they are first opened. */
export function Overlays() {
  return (
    <Suspense>
      <Show when={overlay() === "palette"}>
        <Palette close={close} />
      </Show>
      <Show when={overlay() === "keys"}>
        <KeySheet close={close} />
      </Show>
    </Suspense>
  );
}
