import type { JSX } from "solid-js";

/** A bar from 0 to 1 with a text. `<meter>` would use the browser's colours, which don't follow the theme. */
export function Meter(props: {
  readonly label: string;
  readonly value: number;
  readonly text: string;
}): JSX.Element {
  const percent = (): number => Math.round(Math.min(Math.max(props.value, 0), 1) * 100);
  return (
    <div class="meter" data-level={percent() >= 90 ? "high" : percent() >= 70 ? "medium" : "low"}>
      <span class="meter-label">{props.label}</span>
      <span
        class="meter-bar"
        role="meter"
        aria-label={props.label}
        aria-valuemin="0"
        aria-valuemax="100"
        aria-valuenow={percent()}
        aria-valuetext={props.text}
      >
        <span class="meter-fill" style={{ width: `${percent()}%` }} />
      </span>
      <span class="meter-text">{props.text}</span>
    </div>
  );
}
