import { createSignal } from "solid-js";
import { announce } from "./announce.ts";
import { Icon } from "./icon.tsx";

/** Copies a text. */
export function CopyButton(props: {
  readonly text: () => string;
  readonly label: string;
  readonly class?: string;
}) {
  const [isCopied, setCopied] = createSignal(false);
  const copy = async (): Promise<void> => {
    await copyText(props.text());
    announce("Copied");
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button
      type="button"
      class={`icon-button ${props.class ?? ""}`}
      aria-label={props.label}
      title={props.label}
      onClick={() => void copy()}
    >
      <Icon name={isCopied() ? "check" : "copy"} />
    </button>
  );
}

/** Pages over plain HTTP have no clipboard API, except on this machine. */
async function copyText(text: string): Promise<void> {
  const { clipboard } = navigator as Partial<Navigator>;
  if (clipboard) {
    await clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
