import type { SessionView } from "../feed/index.ts";

export default function DiffPanel(props: { readonly view: SessionView }) {
  return <p>Diff of {props.view.id}</p>;
}
