import { createMemo, type JSX } from "solid-js";
import { encode } from "uqr";
import { qrPath } from "./qr-path.ts";

/** A QR code as one path. Its colours are the same in both themes, because cameras need the contrast. */
export default function QrCode(props: { readonly text: string; readonly label: string }): JSX.Element {
  const code = createMemo(() => encode(props.text, { ecc: "M", border: 2 }));
  return (
    <svg
      class="qr-code"
      role="img"
      aria-label={props.label}
      viewBox={`0 0 ${code().size} ${code().size}`}
      shape-rendering="crispEdges"
    >
      <rect class="qr-light" width="100%" height="100%" />
      <path class="qr-dark" d={qrPath(code().data)} />
    </svg>
  );
}
