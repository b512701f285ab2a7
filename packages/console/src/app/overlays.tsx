import { createSignal, lazy, Show, Suspense } from "solid-js";
import "./overlays.css";

const Palette = lazy(async () => import("./palette.tsx"));
const KeySheet = lazy(async () => import("./key-sheet.tsx"));

type Overlay = "palette" | "keys";

const [overlay, setOverlay] = createSignal<Overlay>();

export function openPalette(): void {
  setOverlay("palette");
}

export function openKeySheet(): void {
  setOverlay("keys");
}

/** The browser reports that a dialog was closed after it has handled the next key, which may have opened another dialog. */
const closeIfOpen = (closed: Overlay): void => {
  setOverlay((current) => (current === closed ? undefined : current));
};

/** Dialogs of the whole page. They are loaded when they are first opened. */
export function Overlays() {
  return (
    <Suspense>
      <Show when={overlay() === "palette"}>
        <Palette close={() => closeIfOpen("palette")} />
      </Show>
      <Show when={overlay() === "keys"}>
        <KeySheet close={() => closeIfOpen("keys")} />
      </Show>
    </Suspense>
  );
}
