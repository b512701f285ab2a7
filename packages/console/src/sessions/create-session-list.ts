import type { Session } from "@codexkit/daemon/client";
import { type Accessor, createEffect, createMemo, createSignal, on, onCleanup } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { explainError } from "../settings/explain-error.ts";

export type SessionFilter = "all" | "waiting" | "running" | "idle" | "archived";

const PHASES: Readonly<Record<SessionFilter, readonly Session["phase"][]>> = {
  all: ["ready", "running", "waiting", "parked", "idle", "stranded", "moving", "failed"],
  waiting: ["waiting", "parked"],
  running: ["ready", "running", "moving"],
  idle: ["idle"],
  archived: ["ready", "running", "waiting", "parked", "idle", "stranded", "moving", "failed"],
};

const DELAY_MS = 150;
const PAGE = 100;

/**
 * Sessions that match a filter and a search. Sessions of the feed are available immediately and stay up to date. Searches and
 * archived sessions are read from the daemon, page by page.
 */
export function createSessionList(
  filter: Accessor<SessionFilter>,
  search: Accessor<string>,
  folder: Accessor<string>,
) {
  const daemon = useDaemon();
  const [found, setFound] = createSignal<readonly string[]>();
  const [others, setOthers] = createSignal<ReadonlyMap<string, Session>>(new Map());
  const [next, setNext] = createSignal<string | null>(null);
  const [problem, setProblem] = createSignal<string>();
  const isRemote = createMemo(() => filter() === "archived" || search().trim() !== "");

  const load = async (cursor: string | undefined, signal: AbortSignal): Promise<void> => {
    try {
      const text = search().trim();
      const page = await daemon.client.request("GET /sessions", {
        query: {
          archived: filter() === "archived",
          limit: PAGE,
          ...(text !== "" && { search: text }),
          ...(cursor !== undefined && { cursor }),
        },
        signal,
      });
      const ids = page.data.map(({ id }) => id);
      setOthers(
        (known) =>
          new Map([
            ...(cursor === undefined ? [] : known),
            ...page.data.map((session) => [session.id, session] as const),
          ]),
      );
      setFound((known) => (cursor === undefined ? ids : [...(known ?? []), ...ids]));
      setNext(page.next);
      setProblem(undefined);
    } catch (error) {
      if (!signal.aborted) setProblem(explainError(error));
    }
  };

  let controller = new AbortController();
  createEffect(
    on([filter, search], () => {
      controller.abort();
      if (!isRemote()) {
        setFound(undefined);
        setNext(null);
        return;
      }
      controller = new AbortController();
      const { signal } = controller;
      const timer = setTimeout(() => void load(undefined, signal), DELAY_MS);
      onCleanup(() => {
        clearTimeout(timer);
        controller.abort();
      });
    }),
  );

  const sessions = createMemo<readonly Session[]>(() => {
    const isArchive = filter() === "archived";
    const matches = ({ archivedAt, phase, cwd }: Session): boolean =>
      (archivedAt !== null) === isArchive &&
      PHASES[filter()].includes(phase) &&
      (folder() === "" || cwd === folder());
    if (!isRemote()) return daemon.sessions().filter(matches);
    return (found() ?? []).flatMap((id) => {
      // The feed has the newer state.
      const session = daemon.session(id) ?? others().get(id);
      return session && matches(session) ? [session] : [];
    });
  });

  return {
    sessions,
    isLoading: (): boolean =>
      isRemote() ? found() === undefined && problem() === undefined : !daemon.isLoaded(),
    hasMore: (): boolean => next() !== null,
    loadMore: async (): Promise<void> => load(next() ?? undefined, controller.signal),
    /** Removes a deleted session from the loaded pages. */
    forget: (sessionId: string): void => {
      setFound((known) => known?.filter((id) => id !== sessionId));
    },
    problem,
  };
}
