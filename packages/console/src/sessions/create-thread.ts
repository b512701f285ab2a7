import type { CliThreadDetails, ThreadFrame } from "@codexkit/daemon/client";
import { createSignal, onCleanup } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { navigate } from "../routing/index.ts";
import { explainError } from "../settings/explain-error.ts";
import { describeItem, type ThreadLine } from "./thread-lines.ts";

/** Maximum number of lines in memory. Older ones are dropped. */
const MAX_LINES = 2000;
const POLL_MS = 2000;

/** A thread of the Codex CLI that is being followed. */
export function createThread(threadId: string) {
  const { client } = useDaemon();
  const controller = new AbortController();
  const { signal } = controller;
  onCleanup(() => controller.abort());
  const [details, setDetails] = createSignal<CliThreadDetails>();
  const [lines, setLines] = createSignal<readonly ThreadLine[]>([]);
  const [state, setState] = createSignal<"reading" | "following" | "ended">("reading");
  const [problem, setProblem] = createSignal<string>();
  const [isBusy, setBusy] = createSignal(false);
  const [isWaiting, setWaiting] = createSignal(false);

  const refresh = async (): Promise<void> => {
    try {
      setDetails(await client.threads.get(threadId, { signal }));
    } catch (error) {
      if (!signal.aborted) setProblem(explainError(error));
    }
  };

  const apply = (frame: ThreadFrame): void => {
    if (frame.type === "restarted") setLines([]);
    if (frame.type === "following") setState("following");
    if (frame.type === "ended") setState("ended");
    if (frame.type !== "item.completed") return;
    const line = describeItem(frame.item);
    if (line) setLines((known) => [...known, line].slice(-MAX_LINES));
  };

  const follow = async (): Promise<void> => {
    try {
      for await (const frame of client.threads.follow(threadId, { signal })) apply(frame);
    } catch (error) {
      if (!signal.aborted) setProblem(explainError(error));
    }
  };

  /** Imports or forks the thread, and shows the session. */
  const open = async (how: "import" | "fork"): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const { session } =
        how === "import"
          ? await client.threads.import(threadId, {}, { signal, wait: 10_000 })
          : await client.threads.fork(threadId, {}, { signal, wait: 10_000 });
      navigate(`/s/${encodeURIComponent(session.id)}`);
    } catch (error) {
      if (signal.aborted) return;
      setProblem(explainError(error));
      // The other program may have opened the thread since the last check.
      await refresh();
    } finally {
      setBusy(false);
    }
  };

  /** Waits until no other program has the thread open, and then imports it. */
  const waitAndImport = async (): Promise<void> => {
    setWaiting(true);
    while (!signal.aborted && isWaiting() && details()?.holder) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      await refresh();
    }
    if (signal.aborted || !isWaiting()) return;
    setWaiting(false);
    await open("import");
  };

  void refresh();
  void follow();
  return {
    details,
    lines,
    state,
    problem,
    isBusy,
    isWaiting,
    open,
    waitAndImport,
    stopWaiting: (): void => void setWaiting(false),
  };
}
