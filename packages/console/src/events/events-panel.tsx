import type { SessionEvent } from "@codexkit/daemon/client";
import { createEffect, createMemo, createSignal, For, type JSX, Show } from "solid-js";
import { type SessionView, useDaemon } from "../feed/index.ts";
import { explainError } from "../settings/explain-error.ts";
import { announce } from "../ui/index.ts";
import { parseFilter, summarizeEvent, toCurl } from "./event-filter.ts";
import "./events.css";

/** Maximum number of events in memory. */
const MAX_EVENTS = 5000;
/** Maximum number of rendered rows: the newest matching events. */
const MAX_ROWS = 500;
const FIRST_PAGE = 500;

/** The session's stored events, newest first. */
export default function EventsPanel(props: { readonly view: SessionView }): JSX.Element {
  const { client } = useDaemon();
  const [events, setEvents] = createSignal<readonly SessionEvent[]>([]);
  const [filter, setFilter] = createSignal("-item.delta");
  const [isPaused, setPaused] = createSignal(false);
  const [open, setOpen] = createSignal<number>();
  const [problem, setProblem] = createSignal<string>();
  let waiting: SessionEvent[] = [];

  const add = (newer: readonly SessionEvent[]): void => {
    const last = events().at(-1)?.seq ?? 0;
    const all = [...events(), ...newer.filter(({ seq }) => seq > last)];
    setEvents(all.slice(-MAX_EVENTS));
  };
  const addOlder = (older: readonly SessionEvent[]): void => {
    const first = events()[0]?.seq ?? Number.POSITIVE_INFINITY;
    setEvents([...older.filter(({ seq }) => seq < first), ...events()].slice(0, MAX_EVENTS));
  };

  /** The page of events that ends before a number. */
  const load = async (before: number): Promise<void> => {
    const after = Math.max(0, before - 1 - FIRST_PAGE);
    try {
      const page = await client.request("GET /sessions/{sessionId}/events", {
        params: { sessionId: props.view.id },
        query: { after, limit: FIRST_PAGE },
      });
      addOlder(page.events.filter(({ seq }) => seq < before));
      setProblem(undefined);
    } catch (error) {
      setProblem(explainError(error));
    }
  };

  let scheduled = false;
  props.view.onEvent((event) => {
    waiting.push(event);
    if (scheduled) return;
    scheduled = true;
    // Thousands of deltas can arrive per second, so they are added once per frame.
    requestAnimationFrame(() => {
      scheduled = false;
      if (isPaused()) {
        waiting = waiting.slice(-MAX_EVENTS);
        return;
      }
      add(waiting);
      waiting = [];
    });
  });

  let isLoaded = false;
  createEffect(() => {
    if (isLoaded || props.view.status() !== "ready") return;
    isLoaded = true;
    void load(props.view.lastSeq() + 1);
  });

  const matching = createMemo(() => events().filter(parseFilter(filter())));
  const rows = createMemo(() => matching().slice(-MAX_ROWS).toReversed());
  const first = (): number => events()[0]?.seq ?? 1;

  const copy = async (text: string, what: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      announce(`Copied ${what}.`);
    } catch {
      setProblem("This page may not use the clipboard: it needs HTTPS or an address of this machine.");
    }
  };

  return (
    <div class="events-panel">
      <div class="events-tools">
        <input
          class="input"
          type="search"
          aria-label="Filter events"
          title="item. · -item.delta · 100-200 · turn:ID · item:ID · text"
          placeholder="item. -item.delta 100-200 turn:ID text"
          value={filter()}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <button
          type="button"
          class="button"
          aria-pressed={isPaused()}
          onClick={() => {
            setPaused(!isPaused());
            if (!isPaused()) {
              add(waiting);
              waiting = [];
            }
          }}
        >
          Pause
        </button>
        <button
          type="button"
          class="button"
          onClick={() => void copy(JSON.stringify(matching(), null, 2), "all matching events")}
        >
          Copy all
        </button>
      </div>
      <p class="events-state muted" role="status">
        {problem() ?? `${matching().length} of ${events().length} events`}
      </p>
      <ol class="events-list" aria-label="Events, newest first">
        <For each={rows()}>
          {(event) => (
            <li>
              <button
                type="button"
                class="event-row"
                aria-expanded={open() === event.seq}
                onClick={() => setOpen(open() === event.seq ? undefined : event.seq)}
              >
                <span class="event-seq">{event.seq}</span>
                <span class="event-type">{event.type}</span>
                <span class="event-summary">{summarizeEvent(event)}</span>
              </button>
              <Show when={open() === event.seq}>
                <div class="event-details">
                  <div class="event-actions">
                    <button
                      type="button"
                      class="button"
                      onClick={() => void copy(JSON.stringify(event, null, 2), "the event")}
                    >
                      Copy JSON
                    </button>
                    <button
                      type="button"
                      class="button"
                      onClick={() => void copy(toCurl(location.origin, props.view.id, event), "the command")}
                    >
                      Copy as curl
                    </button>
                    <time class="muted" datetime={new Date(event.at).toISOString()}>
                      {new Date(event.at).toLocaleTimeString()}
                    </time>
                  </div>
                  <pre tabindex="0">{JSON.stringify(event, null, 2)}</pre>
                </div>
              </Show>
            </li>
          )}
        </For>
      </ol>
      <Show when={first() > 1 && events().length < MAX_EVENTS}>
        <button type="button" class="button" onClick={() => void load(first())}>
          Older events
        </button>
      </Show>
    </div>
  );
}
