import type { SessionView } from "../feed/index.ts";

export default function AgentsPanel(props: { readonly view: SessionView }) {
  return <p>Agents of {props.view.id}</p>;
}
