import { type Accessor, batch, createMemo, createSignal, onCleanup } from "solid-js";
import { SessionFeed } from "../feed/session-feed.ts";
import type { SessionView } from "../feed/index.ts";
import type { DaemonClient, Session } from "@codexkit/daemon/client";
import type { ExportedSession } from "./read-export.ts";
import { createRecordedClient } from "./recorded-daemon.ts";
import { ReplayClock } from "./replay-clock.ts";

/** Maximum number of events that are applied per frame. */
const BATCH = 5000;

export interface Player {
  readonly client: DaemonClient;
  readonly clock: ReplayClock;
  /** Replaced after each step back, because the transcript starts again. */
  readonly view: Accessor<SessionView>;
  readonly session: (id: string) => Session | undefined;
  /** Position in milliseconds. */
  readonly position: Accessor<number>;
  readonly isPlaying: Accessor<boolean>;
  readonly speed: Accessor<number>;
  readonly setSpeed: (speed: number) => void;
  readonly seek: (position: number) => void;
  readonly play: () => void;
  readonly pause: () => void;
}

/** Plays the events of an exported session through the same projection as live ones. */
export function createPlayer(exported: ExportedSession): Player {
  const { events } = exported;
  /** Number of events that were applied to the view. */
  let applied = 0;
  let frame: number | undefined;
  let lastFrameAt = 0;
  const clock = new ReplayClock(events.map(({ at }) => at));
  const client = createRecordedClient(exported, () => events.slice(0, applied));
  const [session, setSession] = createSignal<Session>();
  const [position, setPosition] = createSignal(clock.duration);
  const [isPlaying, setPlaying] = createSignal(false);
  const [speed, setSpeed] = createSignal(1);
  const [feed, setFeed] = createSignal(openFeed());

  function openFeed(): SessionFeed {
    return new SessionFeed(exported.session.id, {
      client,
      session: () => session(),
      addSession: setSession,
      addApprovals: () => {},
      approvals: () => [],
      startAfter: () => {},
    });
  }

  const schedule = (): void => {
    frame ??= requestAnimationFrame(step);
  };
  const step = (now: number): void => {
    frame = undefined;
    batch(() => {
      if (isPlaying()) {
        setPosition(Math.min(clock.duration, position() + (now - lastFrameAt) * speed()));
        if (position() >= clock.duration) setPlaying(false);
      }
      lastFrameAt = now;
      const wanted = clock.countAt(position());
      if (wanted < applied) {
        feed().dispose();
        setFeed(openFeed());
        applied = 0;
      }
      const next = events.slice(applied, Math.min(wanted, applied + BATCH));
      applied += next.length;
      if (next.length > 0) feed().apply(next);
      if (applied < wanted || isPlaying()) schedule();
    });
  };
  schedule();
  onCleanup(() => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    feed().dispose();
  });

  return {
    client,
    clock,
    view: createMemo(() => feed().view),
    session: () => session(),
    position,
    isPlaying,
    speed,
    setSpeed,
    seek: (to) => {
      setPosition(Math.min(Math.max(to, 0), clock.duration));
      schedule();
    },
    play: () => {
      if (position() >= clock.duration) setPosition(0);
      lastFrameAt = performance.now();
      setPlaying(true);
      schedule();
    },
    pause: () => void setPlaying(false),
  };
}
