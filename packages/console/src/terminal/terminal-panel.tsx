import type { SessionView } from "../feed/index.ts";

export default function TerminalPanel(props: { readonly view: SessionView }) {
  return <p>Terminals of {props.view.id}</p>;
}
