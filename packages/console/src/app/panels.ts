import { type Component, lazy } from "solid-js";
import type { SessionView } from "../feed/index.ts";

export interface PanelDefinition {
  readonly id: string;
  readonly label: string;
  readonly component: Component<{ readonly view: SessionView }>;
}

/** The panels beside the transcript, by the value of `?p=`. */
export const PANELS: readonly PanelDefinition[] = [
  { id: "diff", label: "Diff", component: lazy(async () => import("../diff/diff-panel.tsx")) },
  { id: "plan", label: "Plan", component: lazy(async () => import("../plan/plan-panel.tsx")) },
  {
    id: "agents",
    label: "Agents",

    component: lazy(async () => import("../agents/agents-panel.tsx")),
  },
  {
    id: "terminal",
    label: "Terminal",

    component: lazy(async () => import("../terminal/terminal-panel.tsx")),
  },
  { id: "files", label: "Files", component: lazy(async () => import("../files/files-panel.tsx")) },
  { id: "usage", label: "Usage", component: lazy(async () => import("../usage/usage-panel.tsx")) },
  {
    id: "events",
    label: "Events",

    component: lazy(async () => import("../events/events-panel.tsx")),
  },
];
