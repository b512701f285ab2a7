import { createMemo, For, Show } from "solid-js";
import { summarize, titleOf } from "../approvals/describe-request.ts";
import { type SessionView, useDaemon } from "../feed/index.ts";
import { toHref } from "../routing/index.ts";
import { agentName, agentStatus, agentTree } from "./agent-tree.ts";
import "./agents.css";

export default function AgentsPanel(props: { readonly view: SessionView }) {
  const { inbox } = useDaemon();
  const waiting = createMemo(() => inbox().filter(({ sessionId }) => sessionId === props.view.id));
  const nodes = createMemo(() =>
    agentTree(props.view.agents(), waiting(), props.view.session()?.threadId ?? null),
  );
  return (
    <div class="agents-panel">
      <Show when={nodes().length > 0} fallback={<p class="muted">This session has started no agents.</p>}>
        <p class="muted">
          {nodes().length} {nodes().length === 1 ? "agent" : "agents"}
        </p>
        <ul class="agents-list">
          <For each={nodes()}>
            {(node) => (
              <li class="agent" data-depth={Math.min(node.depth, 4)}>
                <div class="agent-head">
                  <strong>{agentName(node.agent)}</strong>
                  <span class="visually-hidden">, level {node.depth + 1},</span>
                  <span
                    class="agent-status"
                    data-status={node.waiting.length > 0 ? "waiting" : node.agent.status}
                  >
                    {agentStatus(node)}
                  </span>
                  <Show when={node.agent.model}>{(model) => <span class="muted">{model()}</span>}</Show>
                </div>
                <Show when={node.agent.prompt}>{(prompt) => <p class="agent-text">{prompt()}</p>}</Show>
                <Show when={node.agent.message}>
                  {(message) => <p class="agent-text muted">{message()}</p>}
                </Show>
                <For each={node.waiting}>
                  {(approval) => (
                    <a
                      class="agent-request"
                      href={toHref(
                        `/s/${props.view.id}?p=agents#${encodeURIComponent(`approval/${approval.id}`)}`,
                      )}
                    >
                      ⚠ {titleOf(approval.request)}: <code>{summarize(approval.request)}</code>
                    </a>
                  )}
                </For>
              </li>
            )}
          </For>
        </ul>
      </Show>
    </div>
  );
}
