import {
  type Approval,
  DaemonClient,
  DaemonClientError,
  type Node,
  type Session,
  type SessionEvent,
  type StreamFrame,
} from "@codexkit/daemon/client";
import { batch, createMemo, createSignal, getOwner, onCleanup } from "solid-js";
import { addApproval } from "./add-approval.ts";
import { createClock } from "./clock.ts";
import type { FeedReport, FeedRequest } from "./feed-protocol.ts";
import { watchHiddenPage } from "./hidden-page.ts";
import { ReactiveMap } from "./reactive-map.ts";
import { ReceivedFrames } from "./received-frames.ts";
import { SessionFeed } from "./session-feed.ts";
import type { Connection, ConnectionState, DaemonFeed, SessionView, SignedInAs } from "./types.ts";

/** After this time, a lost connection is reported as down. */
const DOWN_AFTER_MS = 10_000;
/** Time before the page connects again after its cursor was refused. */
const RESYNC_MS = 1_000;
/** Number of sessions that are still watched after they are no longer on screen. */
const KEPT_SESSIONS = 8;
/** Fewer missing events than this are not reported. */
const BEHIND_EVENTS = 500;

/** Connects the page to the daemon that serves it. */
export function createFeed(worker: Worker): DaemonFeed & { readonly dispose: () => void } {
  const client = new DaemonClient({ url: location.origin });
  const sessions = new ReactiveMap<Session>();
  const approvals = new ReactiveMap<Approval>();
  const feeds = new Map<string, { feed: SessionFeed; readers: number; startsAfter: number | undefined }>();
  const clock = createClock();
  const [identity, setIdentity] = createSignal<SignedInAs>();
  const [connection, setConnection] = createSignal<Connection>({
    state: "connecting",
    since: Date.now(),
    dataFrom: null,
    pending: 0,
  });
  let downTimer: ReturnType<typeof setTimeout> | undefined;

  const send = (request: FeedRequest): void => worker.postMessage(request);

  function changeState(state: ConnectionState, pending = 0): void {
    const current = connection();
    if (current.state === state && current.pending === pending) return;
    const now = Date.now();
    setConnection({
      state,
      since: current.state === state ? current.since : now,
      dataFrom: current.state === "live" ? now : current.dataFrom,
      pending,
    });
  }

  function applyFrames(frames: readonly StreamFrame[]): void {
    const events = new Map<string, SessionEvent[]>();
    batch(() => {
      for (const frame of frames) {
        switch (frame.type) {
          case "session": {
            addSession(frame.session);
            break;
          }
          case "approval": {
            addApproval(approvals, frame.approval);
            break;
          }
          case "synced": {
            void syncLists(new Set(frame.openApprovals));
            break;
          }
          case "unavailable": {
            feeds.get(frame.sessionId)?.feed.markMissing();
            break;
          }
          case "event": {
            const list = events.get(frame.sessionId);
            if (list) list.push(frame.event);
            else events.set(frame.sessionId, [frame.event]);
            break;
          }
        }
      }
      for (const [id, list] of events) feeds.get(id)?.feed.apply(list);
      if (connection().state === "live" || connection().state === "behind") measureLag();
    });
  }

  /** Number of events by which the watched sessions are behind. */
  function measureLag(): void {
    let pending = 0;
    for (const [id, { feed }] of feeds) {
      if (feed.position === 0) continue;
      pending += Math.max(0, (sessions.peek(id)?.lastSeq ?? 0) - feed.position);
    }
    if (pending > BEHIND_EVENTS) changeState("behind", pending);
    else changeState("live");
  }

  /** IDs of sessions that were read before the store was replaced. Any other state of them is newer. */
  let outdated = new Set<string>();

  function addSession(session: Session): void {
    const known = sessions.peek(session.id);
    const isOutdated = outdated.delete(session.id);
    if (known && known.updatedAt > session.updatedAt && !isOutdated) return;
    if (session.phase === "deleted") sessions.delete(session.id);
    else sessions.set(session.id, session);
  }

  const [nodes, setNodes] = createSignal<readonly Node[]>([]);
  async function refreshNodes(): Promise<void> {
    setNodes((await client.request("GET /nodes")).data);
  }

  const [hasLists, setHasLists] = createSignal(false);
  /** Called after each connection. The first one reads the lists, later ones only approvals that the stream reports as closed. */
  async function syncLists(open: ReadonlySet<string>): Promise<void> {
    // An error is ignored, because the lists are usable without nodes. An exported session has none.
    refreshNodes().catch(() => undefined);
    const closed = [...approvals.keys()].filter((id) => {
      const state = approvals.peek(id)?.state;
      return (state === "open" || state === "parked") && !open.has(id);
    });
    const unknown = [...open].filter((id) => !approvals.peek(id));
    try {
      const changed = await Promise.all(
        [...closed, ...(hasLists() ? unknown : [])].map(async (approvalId) =>
          client.request("GET /inbox/{approvalId}", { params: { approvalId } }).catch((error: unknown) => {
            // The store that was replaced had it.
            if (DaemonClientError.is(error) && error.status === 404) approvals.delete(approvalId);
            return undefined;
          }),
        ),
      );
      batch(() => {
        for (const approval of changed) if (approval) addApproval(approvals, approval);
      });
      if (hasLists()) return;
      const [list, opened, parked] = await Promise.all([
        client.request("GET /sessions", { query: { limit: 200 } }),
        readInbox("open"),
        readInbox("parked"),
      ]);
      batch(() => {
        setHasLists(true);
        for (const session of list.data) addSession(session);
        for (const id of outdated) sessions.delete(id);
        outdated.clear();
        for (const approval of [...opened, ...parked]) addApproval(approvals, approval);
      });
    } catch {
      // The connection was lost. The next one reads them again.
    }
  }

  async function readInbox(state: "open" | "parked"): Promise<readonly Approval[]> {
    const all: Approval[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: { readonly data: readonly Approval[]; readonly next: string | null } = await client.request(
        "GET /inbox",
        { query: { state, limit: 200, ...(cursor !== undefined && { cursor }) } },
      );
      all.push(...page.data);
      cursor = page.next;
    }
    return all;
  }

  function setDisconnected(): void {
    if (connection().state === "reconnecting" || connection().state === "down") return;
    if (connection().state !== "connecting") changeState("reconnecting");
    // Each failed attempt is reported. The time counts from the first one.
    downTimer ??= setTimeout(() => changeState("down"), DOWN_AFTER_MS);
  }

  const received = new ReceivedFrames(applyFrames, () => send({ type: "applied" }));
  // The worker's script could not be loaded, for example because the page is being closed.
  worker.addEventListener("error", setDisconnected);
  worker.addEventListener("message", ({ data }: MessageEvent<FeedReport>) => {
    switch (data.type) {
      case "frames": {
        received.add(data.frames);
        break;
      }
      case "connected": {
        clearTimeout(downTimer);
        downTimer = undefined;
        changeState("live");
        break;
      }
      case "disconnected": {
        setDisconnected();
        break;
      }
      case "refused": {
        if (data.resync) {
          resync();
        } else if (data.status === 401 || data.status === 403) {
          setIdentity(undefined);
          changeState("signed-out");
        } else setTimeout(() => send({ type: "connect" }), 5_000);
        break;
      }
    }
  });

  /** Reads everything again, because the store was restored from an older copy than the page's data. */
  function resync(): void {
    received.clear();
    outdated = new Set(sessions.keys());
    setHasLists(false);
    for (const entry of feeds.values()) {
      entry.startsAfter = undefined;
      entry.feed.restart();
    }
    setTimeout(() => send({ type: "connect" }), RESYNC_MS);
  }

  function sendWatch(): void {
    const wanted = [...feeds].flatMap(([id, { startsAfter, feed }]) =>
      startsAfter === undefined ? [] : [[id, Math.max(startsAfter, feed.position)] as const],
    );
    send({ type: "watch", sessions: Object.fromEntries(wanted) });
  }

  function openSession(sessionId: string): { feed: SessionFeed; readers: number } {
    const known = feeds.get(sessionId);
    if (known) {
      // The most recently used session is last.
      feeds.delete(sessionId);
      feeds.set(sessionId, known);
      return known;
    }
    const entry = {
      readers: 0,
      startsAfter: undefined as number | undefined,
      feed: new SessionFeed(sessionId, {
        client,
        session: (id) => sessions.get(id),
        addSession,
        addApprovals: (list) => {
          for (const approval of list) addApproval(approvals, approval);
        },
        approvals: allApprovals,
        startAfter: (seq) => {
          entry.startsAfter = seq;
          sendWatch();
        },
      }),
    };
    feeds.set(sessionId, entry);
    return entry;
  }

  function closeUnused(): void {
    const unused = [...feeds].filter(([, { readers }]) => readers === 0);
    for (const [id, { feed }] of unused.slice(0, Math.max(0, unused.length - KEPT_SESSIONS))) {
      feed.dispose();
      feeds.delete(id);
    }
    if (unused.length > KEPT_SESSIONS) sendWatch();
  }

  function watch(sessionId: string): SessionView {
    const entry = openSession(sessionId);
    entry.readers += 1;
    if (getOwner()) {
      onCleanup(() => {
        entry.readers -= 1;
        closeUnused();
      });
    }
    return entry.feed.view;
  }

  const ignoreHidden = watchHiddenPage({
    onPause: () => send({ type: "pause" }),
    onKeep: () => {
      send({ type: "watch", sessions: {} });
      send({ type: "connect" });
    },
    onResume: () => {
      sendWatch();
      send({ type: "connect" });
    },
  });
  const onWake = (): void => {
    if (connection().state === "reconnecting" || connection().state === "down") send({ type: "connect" });
  };
  addEventListener("pageshow", onWake);
  addEventListener("online", onWake);

  async function signIn(): Promise<void> {
    try {
      setIdentity(await client.request("GET /whoami"));
      changeState("connecting");
      send({ type: "connect" });
    } catch (error) {
      if (DaemonClientError.is(error) && (error.status === 401 || error.status === 403)) {
        setIdentity(undefined);
        changeState("signed-out");
        return;
      }
      setDisconnected();
      setTimeout(() => void signIn(), 1_000);
    }
  }

  async function signOut(): Promise<void> {
    await client.request("POST /logout");
    send({ type: "pause" });
    // Drops all data of the session from memory.
    location.reload();
  }

  const allApprovals = createMemo(() => approvals.values().toSorted((a, b) => a.createdAt - b.createdAt));
  const feed: DaemonFeed & { readonly dispose: () => void } = {
    client,
    connection,
    identity,
    isLoaded: hasLists,
    can: (scope) => identity()?.scopes.includes(scope) ?? false,
    sessions: createMemo(() => sessions.values().toSorted((a, b) => b.updatedAt - a.updatedAt)),
    session: (id) => sessions.get(id),
    inbox: createMemo(() => allApprovals().filter(({ state }) => state === "open" || state === "parked")),
    nodes,
    refreshNodes,
    isFleet: createMemo(
      () => nodes().length > 1 || sessions.values().some(({ phase }) => phase === "stranded"),
    ),
    approval: (id) => approvals.get(id),
    watch,
    clock,
    reconnect: () => send({ type: "connect" }),
    signIn,
    signOut,
    dispose: () => {
      ignoreHidden();
      removeEventListener("pageshow", onWake);
      removeEventListener("online", onWake);
      received.dispose();
      worker.terminate();
    },
  };
  void signIn();
  return feed;
}
