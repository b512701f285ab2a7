import { createMemo, ErrorBoundary, Match, Show, Switch } from "solid-js";
import { agentName } from "../../agents/agent-tree.ts";
import { ApprovalCard } from "../../approvals/approval-card.tsx";
import { type TranscriptItem, useDaemon } from "../../feed/index.ts";
import { CopyButton } from "../../ui/index.ts";
import type { Row } from "../build-rows.ts";
import { useTranscript } from "../transcript-context.ts";
import { BlockRow } from "./block-row.tsx";
import { CommandRow } from "./command-row.tsx";
import { ItemFlags } from "./item-flags.tsx";
import { PlanRow, ReasoningRow, UserRow } from "./message-rows.tsx";
import { NoticeRow } from "./notice-row.tsx";
import { PatchRow } from "./patch-row.tsx";
import { LineRow, ToolRow } from "./tool-rows.tsx";
import { FooterRow, TurnRow } from "./turn-rows.tsx";
import { WorkRow } from "./work-row.tsx";

/** A row of any kind. If it fails to render, it shows its data, and other rows are unaffected. */
export function RowView(props: { readonly row: Row }) {
  return (
    <ErrorBoundary fallback={(error: unknown) => <BrokenRow row={props.row} error={error} />}>
      <RowContent row={props.row} />
    </ErrorBoundary>
  );
}

function RowContent(props: { readonly row: Row }) {
  const { row } = props;
  switch (row.kind) {
    case "turn":
      return <TurnRow turnId={row.turnId} />;
    case "footer":
      return <FooterRow turnId={row.turnId} />;
    case "block":
      return <BlockRow item={row.item} index={row.index} />;
    case "work":
      return <WorkRow rowKey={row.key} items={row.items} />;
    case "approval":
      return <ApprovalRow id={row.approvalId} />;
    case "notice":
      return <NoticeRow notice={row.notice} />;
    case "item":
      return <ItemRow item={row.item} />;
  }
}

function ApprovalRow(props: { readonly id: string }) {
  const { approval } = useDaemon();
  const { view } = useTranscript();
  const current = createMemo(() => approval(props.id));
  const asker = createMemo(() => {
    const agent = view.agents().find(({ threadId }) => threadId === current()?.threadId);
    return agent && agentName(agent);
  });
  return (
    <Show when={current()}>
      {(shown) => <ApprovalCard approval={shown()} place="transcript" agentName={asker()} />}
    </Show>
  );
}

function ItemRow(props: { readonly item: TranscriptItem }) {
  const { item } = props;
  return (
    <div id={item.id}>
      <ItemContent item={item} />
      <ItemFlags item={item} />
    </div>
  );
}

function ItemContent(props: { readonly item: TranscriptItem }) {
  return (
    <Switch fallback={<ToolRow item={props.item} />}>
      <Match when={props.item.kind === "userMessage"}>
        <UserRow item={props.item} />
      </Match>
      <Match when={props.item.kind === "reasoning"}>
        <ReasoningRow item={props.item} />
      </Match>
      <Match when={props.item.kind === "commandExecution"}>
        <CommandRow item={props.item} />
      </Match>
      <Match when={props.item.kind === "fileChange"}>
        <PatchRow item={props.item} />
      </Match>
      <Match when={props.item.kind === "plan"}>
        <PlanRow item={props.item} />
      </Match>
      <Match when={props.item.kind === "contextCompaction"}>
        <LineRow>The context was compacted.</LineRow>
      </Match>
    </Switch>
  );
}

function BrokenRow(props: { readonly row: Row; readonly error: unknown }) {
  const report = (): string =>
    JSON.stringify(
      {
        error: props.error instanceof Error ? props.error.message : String(props.error),
        row: props.row.kind,
        key: props.row.key,
        item: "item" in props.row ? props.row.item.item : undefined,
      },
      undefined,
      2,
    );
  return (
    <div class="row-notice" data-tone="danger">
      <div>
        <p>
          This row can't be displayed. <CopyButton text={report} label="Copy a report" />
        </p>
        <pre class="output" tabindex="0" aria-label="Data of the row">
          {report()}
        </pre>
      </div>
    </div>
  );
}
