import { For, Show } from "solid-js";
import type { SessionView } from "../feed/index.ts";
import { GoalSection } from "./goal-section.tsx";
import { progressOf, stateOf } from "./plan-progress.ts";
import "./plan.css";

const STATES = { done: "done", current: "in progress", open: "to do" } as const;
const MARKS = { done: "✓", current: "▸", open: "○" } as const;

export default function PlanPanel(props: { readonly view: SessionView }) {
  const steps = () => props.view.plan()?.steps ?? [];
  return (
    <div class="plan-panel">
      <GoalSection view={props.view} />
      <section aria-labelledby="plan-title">
        <h3 id="plan-title">
          Plan
          <Show when={steps().length > 0}>
            <span class="muted">
              {" "}
              {progressOf(steps()).done} of {progressOf(steps()).total}
            </span>
          </Show>
        </h3>
        <Show when={steps().length > 0} fallback={<p class="muted">The agent has made no plan yet.</p>}>
          <progress
            class="plan-progress"
            max={progressOf(steps()).total}
            value={progressOf(steps()).done}
            aria-label="Steps that are done"
          />
          <Show when={props.view.plan()?.explanation}>
            {(explanation) => <p class="plan-explanation">{explanation()}</p>}
          </Show>
          <ol class="plan-steps">
            <For each={steps()}>
              {(step) => (
                <li
                  data-state={stateOf(step)}
                  aria-current={stateOf(step) === "current" ? "step" : undefined}
                >
                  <span class="plan-mark" aria-hidden="true">
                    {MARKS[stateOf(step)]}
                  </span>
                  <span>{step.step}</span>
                  <span class="visually-hidden">({STATES[stateOf(step)]})</span>
                </li>
              )}
            </For>
          </ol>
        </Show>
      </section>
    </div>
  );
}
