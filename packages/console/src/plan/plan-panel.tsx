import type { SessionView } from "../feed/index.ts";

export default function PlanPanel(props: { readonly view: SessionView }) {
  return <p>Plan of {props.view.id}</p>;
}
