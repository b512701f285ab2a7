import type { PolicyVerdict } from "@codexkit/daemon/client";
import { For } from "solid-js";
import { VisibleText } from "../ui/visible-text-view.tsx";
import { segmentRows } from "./segment-rows.ts";

const DECISIONS = { allow: "allowed", ask: "ASK", deny: "DENIED" } as const;

/** The verdict on each part of a request, with the rule and its reason. */
export function VerdictTable(props: { readonly verdict: PolicyVerdict }) {
  const rows = () => {
    const { decision, reason, rule } = props.verdict;
    const segments = segmentRows(props.verdict);
    return segments.length > 0
      ? segments
      : [{ command: "the whole request", depth: 0, decision, reason, rule }];
  };
  return (
    <table class="verdict">
      <caption class="visually-hidden">The policy's verdict on each part</caption>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Command</th>
          <th scope="col">Verdict</th>
          <th scope="col">Reason and rule</th>
        </tr>
      </thead>
      <tbody>
        <For each={rows()}>
          {({ command, depth, decision, reason, rule }) => (
            <tr data-decision={decision}>
              <td class="verdict-command" data-depth={Math.min(depth, 3)}>
                <code>
                  <VisibleText text={command} />
                </code>
              </td>
              <td class="verdict-decision">{DECISIONS[decision]}</td>
              <td class="verdict-reason">
                <VisibleText text={reason} />{" "}
                <span class="verdict-rule">
                  <VisibleText text={rule} />
                </span>
              </td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}
