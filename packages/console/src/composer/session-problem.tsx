import type { Problem } from "@codexkit/daemon/client";
import { createSignal, type JSX, Match, onCleanup, Show, Switch } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { announce } from "../ui/index.ts";
import { WriterLock } from "../sessions/writer-lock.tsx";

/** The reason why the session can't continue, and possible actions. */
export default function SessionProblem(props: {
  readonly sessionId: string;
  readonly threadId: string | null;
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
          <Show when={props.threadId}>{(threadId) => <WaitForThread threadId={threadId()} />}</Show>
          <Show when={props.onRetry}>
            {(retry) => (
              <button type="button" class="button" onClick={() => retry()()}>
                Try again
              </button>
            )}
          </Show>
          <span>
            The stored history can be read here. Close the thread in the other program to continue it.
          </span>
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

const POLL_MS = 2_000;

/** Reports when the other program has closed the thread. */
function WaitForThread(props: { readonly threadId: string }): JSX.Element {
  const { client } = useDaemon();
  const [state, setState] = createSignal<"idle" | "waiting" | "free" | "failed">("idle");
  const controller = new AbortController();
  const { signal } = controller;
  onCleanup(() => controller.abort());
  const wait = async (): Promise<void> => {
    setState("waiting");
    try {
      while ((await client.threads.get(props.threadId, { signal })).holder) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      setState("free");
      announce("The thread is free");
    } catch {
      if (!signal.aborted) setState("failed");
    }
  };
  return (
    <>
      <Show when={state() === "idle" || state() === "failed"}>
        <button type="button" class="button" onClick={() => void wait()}>
          Wait, and tell me
        </button>
      </Show>
      <Show when={state() !== "idle"}>
        <p role="status">
          {
            {
              waiting: "Waiting until the thread is closed…",
              free: "The thread is free now. Send your message again.",
              failed: "The daemon does not know whether the thread is open.",
            }[state() as "waiting" | "free" | "failed"]
          }
        </p>
      </Show>
    </>
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
