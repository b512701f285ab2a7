import type { SessionEvent, TurnSummary } from "@codexkit/daemon/client";
import { createEffect, createMemo, createSignal, For, type JSX, Show } from "solid-js";
import { type SessionView, useDaemon } from "../feed/index.ts";
import { toHref } from "../routing/index.ts";
import { preferences } from "../settings/preferences.ts";
import { formatCount, formatDuration } from "../ui/index.ts";
import { Meter } from "./meter.tsx";
import { TokenTable } from "./token-table.tsx";
import { budgetUse, contextUse, costOf, formatCost, usageByDay } from "./usage-model.ts";
import "./usage.css";

/** Number of past events that are searched for reports of the context. */
const LOOK_BACK = 1000;
const MAX_TURNS = 50;

/** Context, budget, tokens and turns of a session. */
export default function UsagePanel(props: { readonly view: SessionView }): JSX.Element {
  const daemon = useDaemon();
  const [reports, setReports] = createSignal<readonly SessionEvent[]>([]);
  const add = (events: readonly SessionEvent[]): void => {
    const known = new Set(reports().map(({ seq }) => seq));
    const newer = events.filter(({ type, seq }) => type === "usage.updated" && !known.has(seq));
    if (newer.length === 0) return;
    // The context is the difference of the last two reports of a thread; agents report between them.
    setReports([...reports(), ...newer].toSorted((a, b) => a.seq - b.seq).slice(-100));
  };
  props.view.onEvent((event) => add([event]));

  let isRead = false;
  createEffect(() => {
    if (isRead || props.view.status() !== "ready") return;
    isRead = true;
    const query = { after: Math.max(0, props.view.lastSeq() - LOOK_BACK), limit: LOOK_BACK };
    daemon.client
      .request("GET /sessions/{sessionId}/events", { params: { sessionId: props.view.id }, query })
      .then(({ events }) => add(events))
      // The panel is shown without the context until new reports arrive.
      .catch(() => {});
  });

  const context = createMemo(() => {
    const threadId = props.view.session()?.threadId;
    return contextUse(reports().filter((event) => "threadId" in event && event.threadId === threadId));
  });
  const turns = createMemo(() => props.view.turns().slice(-MAX_TURNS).toReversed());
  const days = createMemo(() => usageByDay(props.view.turns()));
  const budgets = createMemo(() => {
    const session = props.view.session();
    return session ? budgetUse(session) : [];
  });
  const deadline = (): number | undefined => props.view.session()?.settings.deadline;

  return (
    <div class="usage-panel">
      <Show when={daemon.isFleet() && props.view.session()?.node}>
        {(node) => (
          <p>
            Owned by the node <a href={toHref("/nodes")}>{node()}</a>
          </p>
        )}
      </Show>
      <Show when={context()} fallback={<p class="muted">The context is known after the next answer.</p>}>
        {(use) => (
          <Meter
            label="Context"
            value={use().used / use().window}
            text={`${formatCount(use().used)} of ${formatCount(use().window)} tokens`}
          />
        )}
      </Show>
      <For each={budgets()}>
        {({ label, used, limit }) => (
          <Meter
            label={`Budget, ${label}`}
            value={used / limit}
            text={`${formatCount(used)} of ${formatCount(limit)}`}
          />
        )}
      </For>
      <Show when={deadline()}>
        {(at) => (
          <p>
            {at() > daemon.clock()
              ? `The deadline is in ${formatDuration(at() - daemon.clock())}.`
              : "The deadline has passed."}
          </p>
        )}
      </Show>
      <Show when={props.view.usage().total}>
        {(usage) => (
          <>
            <TokenTable usage={usage()} caption="Whole session" />
            <Show when={preferences().prices}>
              {(prices) => <p>About {formatCost(costOf(usage(), prices()))} by your prices.</p>}
            </Show>
          </>
        )}
      </Show>
      <Show when={days().length > 1}>
        <table class="turn-table">
          <caption>Days</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Turns</th>
              <th scope="col">Tokens</th>
            </tr>
          </thead>
          <tbody>
            <For each={days()}>
              {({ day, turns: count, usage }) => (
                <tr>
                  <th scope="row">{new Date(day).toLocaleDateString()}</th>
                  <td>{count}</td>
                  <td>{formatCount(usage.totalTokens)}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </Show>
      <Show when={turns().length > 0}>
        <table class="turn-table">
          <caption>Turns</caption>
          <thead>
            <tr>
              <th scope="col">Turn</th>
              <th scope="col">Time</th>
              <th scope="col">Tokens</th>
            </tr>
          </thead>
          <tbody>
            <For each={turns()}>
              {(turn) => (
                <tr>
                  <th scope="row">{turn.title || "Turn"}</th>
                  <td>{turnDuration(turn)}</td>
                  <td>{turn.usage ? formatCount(turn.usage.totalTokens) : "–"}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </Show>
    </div>
  );
}

function turnDuration({ startedAt, endedAt, status }: TurnSummary): string {
  return endedAt === null ? status : formatDuration(endedAt - startedAt);
}
