import type { Session } from "@codexkit/daemon/client";

const LABELS: Readonly<Record<Session["phase"], string>> = {
  ready: "starting",
  running: "running",
  waiting: "waiting for you",
  parked: "waiting for you",
  idle: "idle",
  stranded: "stranded",
  moving: "moving",
  failed: "failed",
  deleted: "deleted",
};

export function phaseLabel(phase: Session["phase"]): string {
  return LABELS[phase];
}

/** The state of a session as a coloured mark. Its shape differs too, for people who can't distinguish colours. */
export function PhaseMark(props: { readonly phase: Session["phase"] }) {
  return (
    <span class="phase-mark" data-phase={props.phase} title={LABELS[props.phase]}>
      <span class="visually-hidden">{LABELS[props.phase]}</span>
    </span>
  );
}
