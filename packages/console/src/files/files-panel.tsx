import type { SessionView } from "../feed/index.ts";

export default function FilesPanel(props: { readonly view: SessionView }) {
  return <p>Files of {props.view.id}</p>;
}
