import { batch, createEffect, createMemo, createSignal, onCleanup, untrack } from "solid-js";
import { type SessionView, useDaemon } from "../feed/index.ts";
import { navigate } from "../routing/index.ts";
import { explainError } from "../settings/explain-error.ts";
import { storedValue } from "../settings/local-store.ts";
import { preferences } from "../settings/preferences.ts";
import { draftOf, EMPTY_DRAFT, isEmpty, type AttachedImage, type Draft } from "./draft.ts";
import { InputHistory } from "./input-history.ts";
import { listQueue, type QueuedMessage } from "./message-queue.ts";
import { outboxOf } from "./outbox-registry.ts";
import type { OutgoingMessage, SendMode } from "./outbox.ts";
import { parseInput } from "./parse-input.ts";
import { planCommand, runCommand } from "./lazy-commands.ts";
import type { CommandOutcome } from "./run-command.ts";

const RETRY_MS = 3000;
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** The state of the composer of one session, apart from the elements on the page. */
export function createComposer(view: SessionView) {
  const daemon = useDaemon();
  const { client } = daemon;
  // Each login has its own ID, but keeps the name of its token and device. So a new login finds the drafts again.
  const owner = daemon.identity()?.name ?? "";
  const storedDraft = draftOf(owner, view.id);
  const storedHistory = storedValue(`history.${owner}`, parseHistory);
  const history = new InputHistory(storedHistory.read());
  const [draft, setDraft] = createSignal<Draft>(storedDraft.read());
  const [outcome, setOutcome] = createSignal<CommandOutcome>();
  const [uploads, setUploads] = createSignal(0);
  const [outgoing, setOutgoing] = createSignal<readonly OutgoingMessage[]>([]);
  const { outbox, unsubscribe } = outboxOf(owner, view.id, client, setOutgoing);
  onCleanup(unsubscribe);

  const isRunning = createMemo(() => ["running", "waiting"].includes(view.phase() ?? ""));
  const isConnected = createMemo(() => ["live", "behind"].includes(daemon.connection().state));
  const queue = createMemo(() => listQueue(view.queue(), outgoing()));

  const hasUnsent = createMemo(() => outgoing().some((message) => message.state === "unsent"));
  createEffect(() => {
    if (!isConnected() || !hasUnsent()) return;
    void outbox.flush();
    // The stream may be open while requests fail, for example if the daemon is shutting down.
    const timer = setInterval(() => void outbox.flush(), RETRY_MS);
    onCleanup(() => clearInterval(timer));
  });
  view.onEvent((event) => {
    if (event.type === "command.finished" && event.kind === "message")
      outbox.finish(event.key, event.problem);
  });
  // Commands that ended while this page was closed or showed another session.
  createEffect(() => {
    if (view.status() !== "ready") return;
    const unfinished = new Set(view.queue().map(({ key }) => key));
    for (const { key, state } of untrack(outgoing)) {
      if (state === "accepted" && !unfinished.has(key)) outbox.remove(key);
    }
  });

  const change = (next: Draft): void => {
    setDraft(next);
    storedDraft.write(next);
  };

  /** Runs a request and reports its outcome. */
  const attempt = async (run: () => Promise<CommandOutcome | undefined>): Promise<boolean> => {
    setOutcome(undefined);
    try {
      const result = await run();
      setOutcome(result);
      if (result?.openSession !== undefined) navigate(`/s/${encodeURIComponent(result.openSession)}`);
      return !result?.failed;
    } catch (error) {
      setOutcome({ message: explainError(error), failed: true });
      return false;
    }
  };

  const sendMessage = (mode: SendMode): void => {
    const { text, images } = draft();
    void outbox.send({ text: text.trim(), images, mode });
  };

  const remember = (): void => {
    history.add(draft().text.trim());
    storedHistory.write([...history.entries]);
  };

  const runInput = async (
    input: Extract<ReturnType<typeof parseInput>, { type: "shell" | "command" }>,
  ): Promise<void> => {
    const session = view.session();
    if (!session) return;
    const before = draft();
    change(EMPTY_DRAFT);
    const target = { client, sessionId: view.id, threadId: session.threadId, turns: view.turns() };
    const succeeded = await attempt(async () => {
      const planned =
        input.type === "shell"
          ? ({ operation: "shell", command: input.command } as const)
          : await planCommand(input.command, input.argument, session);
      return runCommand(planned, target);
    });
    // A failed command is put back for correction, unless other text was typed in the meantime.
    if (!succeeded && isEmpty(draft())) change(before);
  };

  /** Sends the text, or runs it if it is a command. Without `mode`, the preference applies. */
  const submit = (mode?: SendMode): void => {
    const input = parseInput(draft().text);
    if (input.type === "unknownCommand") {
      setOutcome({
        message: `There is no command /${input.name}. Begin with a space to send it as a message.`,
        failed: true,
      });
      return;
    }
    if ((input.type === "empty" && draft().images.length === 0) || uploads() > 0) return;
    remember();
    if (input.type === "shell" || input.type === "command") {
      void runInput(input);
      return;
    }
    const whileRunning = preferences().enterWhileRunning;
    batch(() => {
      setOutcome(undefined);
      sendMessage(mode ?? (isRunning() ? whileRunning : "queue"));
      change(EMPTY_DRAFT);
    });
  };

  const attach = async (files: readonly File[]): Promise<void> => {
    for (const file of files) {
      if (!file.type.startsWith("image/")) {
        setOutcome({ message: `${file.name} is not an image.`, failed: true });
        continue;
      }
      if (file.size > MAX_IMAGE_BYTES) {
        setOutcome({ message: `${file.name} is larger than 20 MB.`, failed: true });
        continue;
      }
      setUploads((count) => count + 1);
      await attempt(async () => {
        const { id } = await client.files(view.id).uploadImage(file);
        const image: AttachedImage = { imageId: id, name: file.name };
        change({ ...draft(), images: [...draft().images.filter(({ imageId }) => imageId !== id), image] });
        return undefined;
      });
      setUploads((count) => count - 1);
    }
  };

  const detach = (imageId: string): void => {
    change({ ...draft(), images: draft().images.filter((image) => image.imageId !== imageId) });
  };

  /** Removes a message from the queue. Resolves to whether it was still queued. */
  const dequeue = async ({ key, commandId }: QueuedMessage): Promise<boolean> => {
    if (commandId === undefined) return outbox.remove(key) !== undefined;
    return attempt(async () => {
      const { problem } = await client.request("DELETE /sessions/{sessionId}/messages/{commandId}", {
        params: { sessionId: view.id, commandId },
        query: { wait: 10_000 },
      });
      if (problem) return { message: "Codex has already received the message.", failed: true };
      outbox.remove(key);
      return undefined;
    });
  };

  /** Puts a queued message back into the text field. */
  const edit = async (message: QueuedMessage): Promise<void> => {
    const stored = outgoing().find(({ key }) => key === message.key);
    if (!stored || !(await dequeue(message))) return;
    const { text, images } = draft();
    change({
      text: text === "" ? stored.text : `${stored.text}\n${text}`,
      images: [...stored.images, ...images],
    });
  };

  return {
    draft,
    setText: (text: string): void => change({ ...draft(), text }),
    attach,
    detach,
    uploads,
    submit,
    interrupt: async (): Promise<boolean> =>
      attempt(async () =>
        runCommand({ operation: "interrupt" }, { client, sessionId: view.id, threadId: null, turns: [] }),
      ),
    isRunning,
    isConnected,
    queue,
    dequeue,
    edit,
    retry: async (key: string): Promise<void> => outbox.retry(key),
    attempt,
    outcome,
    setOutcome,
    history,
  };
}

export type ComposerState = ReturnType<typeof createComposer>;

function parseHistory(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}
