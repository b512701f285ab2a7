import { createMemo, For, Show, Suspense } from "solid-js";
import { Dynamic } from "solid-js/web";
import { ApprovalCard } from "../approvals/approval-card.tsx";
import { Composer } from "../composer/composer.tsx";
import { useDaemon } from "../feed/index.ts";
import { PlanStrip } from "../plan/plan-strip.tsx";
import { queryParam, routeParam, setQueryParams } from "../routing/index.ts";
import { PANELS } from "./panels.ts";

export default function SessionScreen() {
  return (
    <Show when={routeParam("id")} keyed>
      {(id) => <Session id={id} />}
    </Show>
  );
}

function Session(props: { readonly id: string }) {
  const view = useDaemon().watch(props.id);
  const panel = createMemo(() => PANELS.find(({ id }) => id === queryParam("p")));
  return (
    <div class="session">
      <header>
        <h1>{view.session()?.name ?? view.session()?.preview ?? props.id}</h1>
        <div role="tablist" aria-label="Panels">
          <For each={PANELS}>
            {({ id, label }) => (
              <button
                type="button"
                role="tab"
                aria-selected={panel()?.id === id}
                onClick={() => setQueryParams({ p: panel()?.id === id ? undefined : id })}
              >
                {label}
              </button>
            )}
          </For>
        </div>
      </header>
      <div role="log" aria-live="off" aria-label="Transcript">
        <For each={view.items()}>
          {(item) => (
            <p>
              {item.kind}: {item.text}
            </p>
          )}
        </For>
        <For each={view.approvals()}>
          {(approval) => <ApprovalCard approval={approval} place="transcript" />}
        </For>
      </div>
      <PlanStrip view={view} />
      <Composer view={view} />
      <Show when={panel()}>
        {(shown) => (
          <aside aria-label={shown().label}>
            <Suspense>
              <Dynamic component={shown().component} view={view} />
            </Suspense>
          </aside>
        )}
      </Show>
    </div>
  );
}
