import type { Session } from "@codexkit/daemon/client";
import type { JSX } from "solid-js";
import { PERMISSION_MODES } from "../settings/choices.ts";
import { ConfirmDialog } from "../ui/index.ts";

/** Asks whether a session should run without a sandbox. */
export default function ConfirmMode(props: {
  readonly mode: Session["settings"]["permissionMode"];
  readonly onAnswer: (isConfirmed: boolean) => void;
}): JSX.Element {
  const choice = () => PERMISSION_MODES.find(({ value }) => value === props.mode);
  return (
    <ConfirmDialog
      title={`Switch to ${choice()?.label}?`}
      action="Switch"
      keep="Keep the sandbox"
      onConfirm={() => props.onAnswer(true)}
      onClose={() => props.onAnswer(false)}
    >
      <p>{choice()?.detail}</p>
    </ConfirmDialog>
  );
}
