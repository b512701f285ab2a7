import type { SessionView } from "../feed/index.ts";

/** The plan in one line, above the composer. */
export function PlanStrip(props: { readonly view: SessionView }) {
  return <span data-session={props.view.id} />;
}
