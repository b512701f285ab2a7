import type { DaemonFeed } from "../feed/index.ts";
import { useKeys } from "../keys/index.ts";
import { navigate, routeParam } from "../routing/index.ts";
import { openKeySheet, openPalette } from "./overlays.tsx";

/** Shortcuts of all screens. */
export function useAppKeys({ sessions, inbox }: DaemonFeed): void {
  const openSession = (id: string | undefined): void => {
    if (id !== undefined) navigate(`/s/${encodeURIComponent(id)}`);
  };
  const neighbour = (step: 1 | -1): void => {
    const list = sessions().filter(({ archivedAt }) => archivedAt === null);
    const index = list.findIndex(({ id }) => id === routeParam("id"));
    openSession(list[index === -1 ? 0 : index + step]?.id);
  };
  const openApproval = (index: number): void => {
    const approval = inbox().at(index);
    if (approval) navigate(`/inbox#${encodeURIComponent(approval.id)}`);
  };
  useKeys("everywhere", {
    "app.palette": openPalette,
    "app.keys": openKeySheet,
    "app.goInbox": () => navigate("/inbox"),
    "app.goSessions": () => navigate("/sessions"),
    "app.goUsage": () => navigate("/usage"),
    "app.search": () => navigate("/sessions#search"),
    "app.new": () => navigate("/new"),
    "app.previousSession": () => neighbour(-1),
    "app.nextSession": () => neighbour(1),
    "app.newestApproval": () => openApproval(-1),
    "app.approval": ({ key }) => openApproval(Number(key) - 1),
  });
}
