import type { PlanStep } from "../feed/index.ts";

export type StepState = "done" | "current" | "open";

export interface PlanProgress {
  readonly done: number;
  readonly total: number;
  /** The step in progress, or else the first pending one. Null if all are completed. */
  readonly current: string | null;
}

export function stateOf({ status }: Pick<PlanStep, "status">): StepState {
  switch (status) {
    case "completed":
      return "done";
    case "inProgress":
      return "current";
    default:
      return "open";
  }
}

export function progressOf(steps: readonly PlanStep[]): PlanProgress {
  const current =
    steps.find((step) => stateOf(step) === "current") ?? steps.find((step) => stateOf(step) === "open");
  return {
    done: steps.filter((step) => stateOf(step) === "done").length,
    total: steps.length,
    current: current?.step ?? null,
  };
}
