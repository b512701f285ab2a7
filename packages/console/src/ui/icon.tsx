/** Paths of icons on a grid of 16 units, drawn with strokes. */
const PATHS = {
  agent: "M8 2.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM3 13.5c.6-2.7 2.6-4 5-4s4.4 1.3 5 4",
  alert: "M8 2.2 14.3 13H1.7zM8 6.3v3.2M8 11.4v.1",
  archive: "M2 3h12v3H2zM3 6v7h10V6M6.5 8.5h3",
  arrowDown: "M8 3v10M3.8 8.8 8 13l4.2-4.2",
  check: "m3 8.5 3.3 3.3L13 4.7",
  chevron: "m6 3.5 4.5 4.5L6 12.5",
  clock: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 4.8V8l2.2 1.6",
  close: "m3.8 3.8 8.4 8.4M12.2 3.8l-8.4 8.4",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  diff: "M8 3v6M5 6h6M5 12.5h6",
  events: "M2.5 4h11M2.5 8h11M2.5 12h7",
  file: "M4 1.8h5.2L12.5 5v9.2H4zM9 1.8V5h3.5",
  fork: "M4.5 2.5v11M4.5 9c5 0 7-1.2 7-4M11.5 5a1.2 1.2 0 1 0 0-2.4 1.2 1.2 0 0 0 0 2.4z",
  gear: "M8 5.6a2.4 2.4 0 1 1 0 4.8 2.4 2.4 0 0 1 0-4.8zM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M3.6 12.4 5 11M11 5l1.4-1.4",
  image: "M2.2 3h11.6v10H2.2zM2.2 11l3.6-3.6 3 3 2-2 3 3M10.5 5.8v.1",
  inbox: "M2.2 9.2 4 3h8l1.8 6.2V13H2.2zM2.2 9.2h3.6c.3 1.3 1.1 2 2.2 2s1.9-.7 2.2-2h3.6",
  info: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 7.2v3.6M8 5v.1",
  link: "M6.8 9.2 9.2 6.8M7.2 4.6l1.3-1.3a2.9 2.9 0 0 1 4.2 4.2l-1.3 1.3M8.8 11.4l-1.3 1.3a2.9 2.9 0 0 1-4.2-4.2l1.3-1.3",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4v.1M2.5 8v.1M2.5 12v.1",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  more: "M3.5 8v.1M8 8v.1M12.5 8v.1",
  pencil: "m3 13 .7-3L10.8 3a1.4 1.4 0 0 1 2 2L5.9 12.2z",
  plan: "m2.5 4 1.2 1.2L5.8 3M8 4.2h5.5M2.5 9l1.2 1.2L5.8 8M8 9.2h5.5M8 13.2h5.5",
  plus: "M8 3v10M3 8h10",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.4 10.4l3.4 3.4",
  sessions: "M2.2 3h11.6v7.6H7.6L4.6 13v-2.4H2.2z",
  terminal: "m3 4.5 3.5 3.5L3 11.5M8.2 11.5H13",
  thought:
    "M8 2.5c3 0 5.4 1.8 5.4 4.2S11 10.9 8 10.9c-.5 0-1 0-1.4-.1L3.8 12.5l.4-2.6C3.2 9.1 2.6 8 2.6 6.7c0-2.4 2.4-4.2 5.4-4.2z",
  tool: "M9.8 2.6a3.4 3.4 0 0 0-.9 3.8l-6 6 1.2 1.2 6-6a3.4 3.4 0 0 0 4-4.4L11.8 5.5 10.2 4z",
  usage: "M3 13V8.5M8 13V3M13 13V6",
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon: the text beside it, or the label of its button, has its meaning. */
export function Icon(props: { readonly name: IconName; readonly class?: string }) {
  return (
    <svg class={`icon ${props.class ?? ""}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[props.name]} />
    </svg>
  );
}
