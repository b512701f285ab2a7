import { Show } from "solid-js";
import type { SessionView } from "../feed/index.ts";
import { setQueryParams } from "../routing/index.ts";
import { progressOf } from "./plan-progress.ts";
import "./plan.css";

/** The plan in one line, above the composer. */
export function PlanStrip(props: { readonly view: SessionView }) {
  const progress = () => progressOf(props.view.plan()?.steps ?? []);
  return (
    <Show when={progress().total > 0}>
      <button type="button" class="plan-strip" onClick={() => setQueryParams({ p: "plan" })}>
        <span>
          Plan {progress().done}/{progress().total}
        </span>
        <span class="plan-strip-step">{progress().current ?? "done"}</span>
      </button>
    </Show>
  );
}
