import type { SessionView } from "../feed/index.ts";

export default function UsagePanel(props: { readonly view: SessionView }) {
  return <p>Usage of {props.view.id}</p>;
}
