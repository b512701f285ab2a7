import type { SessionView } from "../feed/index.ts";

export default function EventsPanel(props: { readonly view: SessionView }) {
  return <p>Events of {props.view.id}</p>;
}
