import type { Node } from "@codexkit/daemon/client";
import { createEffect, createMemo, createSignal, For, type JSX, on, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { toHref } from "../routing/index.ts";
import { explainError } from "../settings/explain-error.ts";
import { sessionTitle } from "../settings/session-title.ts";
import { announce, ConfirmDialog, formatDuration, ProblemText } from "../ui/index.ts";
import { describeLease, STATES } from "./describe-node.ts";
import "./nodes.css";

/** Polling interval, because leases change without an event. */
const REFRESH_MS = 5_000;

type Action = { readonly type: "drain" | "remove"; readonly node: Node };

/** The nodes that share the store, and the sessions that wait for a lost node. */
export default function NodesScreen(): JSX.Element {
  const { client, nodes, refreshNodes, sessions, clock, can } = useDaemon();
  const [action, setAction] = createSignal<Action>();
  const [rehomes, setRehomes] = createSignal(false);
  const [problem, setProblem] = createSignal<string>();
  const [isRead, setRead] = createSignal(false);
  const stranded = createMemo(() => sessions().filter(({ phase }) => phase === "stranded"));

  async function refresh(): Promise<void> {
    try {
      await refreshNodes();
      setRead(true);
    } catch (error) {
      setProblem(explainError(error));
    }
  }

  const period = createMemo(() => Math.floor(clock() / REFRESH_MS));
  createEffect(on(period, () => void refresh()));

  async function perform({ type, node }: Action): Promise<void> {
    setProblem(undefined);
    try {
      const params = { nodeId: node.id };
      if (type === "drain") await client.request("POST /nodes/{nodeId}/drain", { params });
      else await client.request("DELETE /nodes/{nodeId}", { params, query: { rehome: rehomes() } });
      announce(type === "drain" ? `${node.name} is draining` : `${node.name} was removed`);
      await refresh();
    } catch (error) {
      setProblem(explainError(error));
    }
  }

  return (
    <section class="screen nodes">
      <h1>Nodes</h1>
      <ProblemText text={problem()} />
      <Show when={stranded().length > 0}>
        <section class="nodes-stranded" aria-labelledby="stranded-title">
          <h2 id="stranded-title">
            {stranded().length === 1 ? "1 session is stranded" : `${stranded().length} sessions are stranded`}
          </h2>
          <p>
            No node that is up has what they need, such as their folders. Start one that has it, and they go
            on. If the machine is lost for good, remove its node
            {can("admin") ? "" : " (it takes a token with the scope admin)"}.
          </p>
          <ul>
            <For each={stranded()}>
              {(session) => (
                <li>
                  <a href={toHref(`/s/${encodeURIComponent(session.id)}`)}>{sessionTitle(session)}</a>{" "}
                  <span class="muted">on {session.node ?? "an unknown node"}</span>
                  <Show when={session.problem}>{(reason) => <p>{reason().detail}</p>}</Show>
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
      <Show
        when={nodes().length > 0}
        fallback={<p>{isRead() ? "The daemon lists no nodes." : "Loading…"}</p>}
      >
        <ul class="node-list">
          <For each={nodes().map(({ id }) => id)}>
            {(id) => (
              <Show when={nodes().find((node) => node.id === id)}>
                {(node) => <NodeItem node={node()} now={clock()} onAction={setAction} />}
              </Show>
            )}
          </For>
        </ul>
      </Show>
      <Show when={action()}>
        {(chosen) => (
          <ConfirmDialog
            title={
              chosen().type === "drain" ? `Drain ${chosen().node.name}?` : `Remove ${chosen().node.name}?`
            }
            action={chosen().type === "drain" ? "Drain" : "Remove"}
            onConfirm={() => void perform(chosen())}
            onClose={() => setAction(undefined)}
          >
            <Show
              when={chosen().type === "drain"}
              fallback={
                <>
                  <p>
                    The node is given up. Sessions that need its folders fail, and go on only if it comes back
                    under its name.
                  </p>
                  <label class="node-rehome">
                    <input
                      type="checkbox"
                      checked={rehomes()}
                      onChange={(event) => setRehomes(event.currentTarget.checked)}
                    />
                    Other nodes have the same folders: let them continue its sessions
                  </label>
                </>
              }
            >
              <p>
                It takes no more sessions and hands those that it has over to the other nodes. Its{" "}
                {chosen().node.runningTurns} running turns may be interrupted.
              </p>
            </Show>
          </ConfirmDialog>
        )}
      </Show>
    </section>
  );
}

function NodeItem(props: {
  readonly node: Node;
  readonly now: number;
  readonly onAction: (action: Action) => void;
}): JSX.Element {
  const { can } = useDaemon();
  const facts = (): readonly (readonly [string, string])[] => {
    const { node, now } = props;
    return [
      ["Sessions", `${node.sessions} of ${node.capacity}`],
      ["Running turns", String(node.runningTurns)],
      ["Lease", describeLease(node, now)],
      ["Running for", formatDuration(Math.max(0, now - node.startedAt))],
      ["Version", `codexkit ${node.version}, Codex ${node.codexVersion}`],
      ["Address", node.url ?? "none: other nodes can't reach it"],
    ];
  };
  return (
    <li class="node" data-state={props.node.state}>
      <h2>
        {props.node.name} <span class="node-state">{STATES[props.node.state]}</span>
        <Show when={props.node.isCurrent}>
          {" "}
          <span class="muted">answers this page</span>
        </Show>
      </h2>
      <Show when={props.node.labels.length > 0}>
        <ul class="node-labels" aria-label="Labels">
          <For each={props.node.labels}>{(label) => <li>{label}</li>}</For>
        </ul>
      </Show>
      <dl>
        <For each={facts()}>
          {([name, value]) => (
            <div>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          )}
        </For>
      </dl>
      <Show when={can("admin") && props.node.state !== "draining"}>
        <div>
          <Show
            when={props.node.state === "lost"}
            fallback={
              <button
                type="button"
                class="button"
                aria-label={`Drain ${props.node.name}`}
                onClick={() => props.onAction({ type: "drain", node: props.node })}
              >
                Drain…
              </button>
            }
          >
            <button
              type="button"
              class="button button-danger"
              aria-label={`Remove ${props.node.name}`}
              onClick={() => props.onAction({ type: "remove", node: props.node })}
            >
              Remove…
            </button>
          </Show>
        </div>
      </Show>
    </li>
  );
}
