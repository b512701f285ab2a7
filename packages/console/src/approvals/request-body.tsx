import type { Approval, Session } from "@codexkit/daemon/client";
import { Match, Show, Suspense, Switch } from "solid-js";
import type { Answering } from "./answering.ts";
import { CommandBody } from "./command-body.tsx";
import { FileChangeBody } from "./file-change-body.tsx";
import { ElicitationBody, McpToolBody, PermissionsBody, QuestionBody } from "./lazy-forms.ts";
import { VerdictTable } from "./verdict-table.tsx";

/** The contents of a request, by its kind. */
export function RequestBody(props: {
  readonly approval: Approval;
  readonly answering: Answering;
  readonly settings: Session["settings"] | undefined;
  readonly isReadOnly: boolean;
  readonly isDiffOpen: boolean;
  readonly onToggleDiff: () => void;
  /** Called when the end of a command, or of the arguments of a tool, has been in view. */
  readonly onSeen?: (() => void) | undefined;
}) {
  const request = () => props.approval.request;
  return (
    <Suspense>
      <Switch>
        <Match when={narrow(request(), "command")}>
          {(command) => (
            <CommandBody
              request={command()}
              verdict={props.approval.verdict}
              settings={props.settings}
              onSeen={props.onSeen}
            />
          )}
        </Match>
        <Match when={narrow(request(), "fileChange")}>
          {(change) => (
            <FileChangeBody
              request={change()}
              settings={props.settings}
              isOpen={props.isDiffOpen}
              onToggle={() => props.onToggleDiff()}
            />
          )}
        </Match>
        <Match when={narrow(request(), "permissions")}>
          {(permissions) => (
            <PermissionsBody
              request={permissions()}
              answering={props.answering}
              isReadOnly={props.isReadOnly}
            />
          )}
        </Match>
        <Match when={narrow(request(), "userInput")}>
          {(questions) => (
            <QuestionBody
              request={questions()}
              approvalId={props.approval.id}
              answering={props.answering}
              isReadOnly={props.isReadOnly}
            />
          )}
        </Match>
        <Match when={narrow(request(), "elicitation")}>
          {(elicitation) => (
            <ElicitationBody
              request={elicitation()}
              approvalId={props.approval.id}
              answering={props.answering}
              isReadOnly={props.isReadOnly}
            />
          )}
        </Match>
        <Match when={narrow(request(), "mcpTool")}>
          {(tool) => <McpToolBody request={tool()} onSeen={props.onSeen} />}
        </Match>
      </Switch>
      {/* Commands show it beside their parts. */}
      <Show when={request().kind !== "command" && props.approval.verdict}>
        {(verdict) => <VerdictTable verdict={verdict()} />}
      </Show>
    </Suspense>
  );
}

type Request = Approval["request"];

/** Narrows the request to a kind. Undefined if it is of another kind. */
export function narrow<Kind extends Request["kind"]>(
  request: Request,
  kind: Kind,
): Extract<Request, { kind: Kind }> | undefined {
  return request.kind === kind ? (request as Extract<Request, { kind: Kind }>) : undefined;
}
