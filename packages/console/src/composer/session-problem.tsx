import type { Problem } from "@codexkit/daemon/client";
import { type JSX, Match, Show, Switch } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { WriterLock } from "../sessions/writer-lock.tsx";

/** The reason why the session can't continue, and possible actions. */
export function SessionProblem(props: {
  readonly sessionId: string;
  readonly problem: Problem;
  readonly onFork: () => void;
  /** Sends the refused message again. Undefined if no message was refused. */
  readonly onRetry: (() => void) | undefined;
}): JSX.Element {
  const daemon = useDaemon();
  return (
    <Switch>
      <Match when={props.problem.type === "writer_locked"}>
        <WriterLock holder={readHolder(props.problem)} onFork={() => props.onFork()}>
          The stored history can be read here. Close the thread in the other program to continue it.
          <Show when={props.onRetry}>
            {(retry) => (
              <button type="button" class="button" onClick={() => retry()()}>
                Try again
              </button>
            )}
          </Show>
        </WriterLock>
      </Match>
      <Match when={true}>
        <section class="session-problem" aria-label="Problem of the session">
          <p>
            <strong>{props.problem.title}.</strong> {props.problem.detail}
          </p>
          <p class="muted">
            The next message starts Codex again.
            <Show when={daemon.can("admin")}>
              {" "}
              <a
                href={`/sessions/${encodeURIComponent(props.sessionId)}/debug`}
                target="_blank"
                rel="noreferrer"
              >
                Debug bundle
              </a>
            </Show>
          </p>
        </section>
      </Match>
    </Switch>
  );
}

function readHolder(problem: Problem): { readonly pid: number; readonly command: string } | null {
  const holder = problem["holder"] as
    | { readonly pid?: unknown; readonly command?: unknown }
    | null
    | undefined;
  return typeof holder?.pid === "number" && typeof holder.command === "string"
    ? { pid: holder.pid, command: holder.command }
    : null;
}
