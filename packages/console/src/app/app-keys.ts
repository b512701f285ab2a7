import type { DaemonFeed } from "../feed/index.ts";
import { useKeys } from "../keys/index.ts";
import { navigate, routeParam } from "../routing/index.ts";
import { openKeySheet, openPalette } from "./overlays.tsx";

/** Keys that act on every screen. */
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
  useKeys("everywhere", [
    { id: "app.palette", keys: "$mod+k", label: "Search or command", inFields: true, run: openPalette },
    { id: "app.keys", keys: "?", label: "Keyboard shortcuts", run: openKeySheet },
    { id: "app.goInbox", keys: "g i", label: "Inbox", run: () => navigate("/inbox") },
    { id: "app.goSessions", keys: "g s", label: "Sessions", run: () => navigate("/sessions") },
    { id: "app.goUsage", keys: "g u", label: "Usage", run: () => navigate("/usage") },
    { id: "app.new", keys: "c", label: "New session", run: () => navigate("/new") },
    { id: "app.previousSession", keys: "[", label: "Previous session", run: () => neighbour(-1) },
    { id: "app.nextSession", keys: "]", label: "Next session", run: () => neighbour(1) },
    { id: "app.newestApproval", keys: ".", label: "Newest approval", run: () => openApproval(-1) },
    {
      id: "app.approval",
      keys: "1-9",
      label: "The n-th approval that waits",
      run: ({ key }) => openApproval(Number(key) - 1),
    },
  ]);
}
