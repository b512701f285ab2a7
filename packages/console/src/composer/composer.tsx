import type { SessionView } from "../feed/index.ts";

export function Composer(props: { readonly view: SessionView }) {
  return <form aria-label="Message" data-session={props.view.id} />;
}
