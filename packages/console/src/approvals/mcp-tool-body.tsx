import type { InboxRequest } from "@codexkit/daemon/client";
import { Show } from "solid-js";
import { LongText } from "./long-text.tsx";
import { VisibleText } from "../ui/visible-text-view.tsx";

type McpToolRequest = Extract<InboxRequest, { kind: "mcpTool" }>;

export function McpToolBody(props: {
  readonly request: McpToolRequest;
  /** Called when the end of the arguments has been in view. */
  readonly onSeen?: (() => void) | undefined;
}) {
  return (
    <>
      <p class="approval-message">
        <VisibleText text={props.request.message} />
      </p>
      <dl class="approval-facts">
        <dt>Server</dt>
        <dd>
          <code>
            <VisibleText text={props.request.server} />
          </code>
        </dd>
        <Show when={props.request.tool}>
          {(tool) => (
            <>
              <dt>Tool</dt>
              <dd>
                <code>
                  <VisibleText text={tool()} />
                </code>
                <Show when={props.request.title}>
                  {(title) => (
                    <>
                      {" "}
                      <VisibleText text={title()} />
                    </>
                  )}
                </Show>
              </dd>
            </>
          )}
        </Show>
        <Show when={props.request.description}>
          {(description) => (
            <>
              <dt>Own description</dt>
              <dd>
                <VisibleText text={description()} />
              </dd>
            </>
          )}
        </Show>
      </dl>
      <Show when={props.request.arguments !== null && props.request.arguments !== undefined}>
        <LongText
          class="approval-json"
          label="Arguments"
          text={JSON.stringify(props.request.arguments, undefined, 2)}
          onSeen={() => props.onSeen?.()}
        />
      </Show>
    </>
  );
}
