import type { Approval, DaemonClient, InboxAnswer } from "@codexkit/daemon/client";
import { type Accessor, createSignal } from "solid-js";
import { type AnswerDraft, EMPTY_ANSWER, type SentAnswer } from "./answer-draft.ts";
import { submitAnswer } from "./submit-answer.ts";

export type SendStatus =
  | { readonly type: "idle" | "sending" }
  /** `detail` is the reason. The same answer can be sent again. */
  | { readonly type: "failed"; readonly detail: string }
  | { readonly type: "lost"; readonly detail: string }
  | { readonly type: "answered"; readonly approval: Approval; readonly messageProblem: string | null };

/** The draft of an answer, and its submission to the daemon. */
export interface Answering {
  readonly draft: Accessor<AnswerDraft>;
  readonly update: (changes: Partial<AnswerDraft>) => void;
  readonly status: Accessor<SendStatus>;
  /** Sends an answer and, with `text`, a message to the agent. No-op while an answer is being sent. */
  readonly submit: (
    client: DaemonClient,
    approval: Approval,
    answer: InboxAnswer,
    text?: string,
  ) => Promise<void>;
  /** Sends the last answer again, exactly as it was. */
  readonly retry: (client: DaemonClient, approval: Approval) => Promise<void>;
}

/** Maximum number of drafts that are kept. Drafts of requests that were answered long ago are dropped first. */
const MAX_DRAFTS = 200;

const answerings = new Map<string, Answering>();

/** Returns the draft for an approval, which all its cards share. */
export function answeringOf(approvalId: string): Answering {
  const known = answerings.get(approvalId);
  if (known) return known;
  const created = createAnswering();
  answerings.set(approvalId, created);
  const oldest = answerings.keys().next().value;
  if (answerings.size > MAX_DRAFTS && oldest !== undefined) answerings.delete(oldest);
  return created;
}

function createAnswering(): Answering {
  const [draft, setDraft] = createSignal(EMPTY_ANSWER);
  const [status, setStatus] = createSignal<SendStatus>({ type: "idle" });

  async function send(client: DaemonClient, approval: Approval, sent: SentAnswer): Promise<void> {
    if (status().type === "sending") return;
    setDraft((before) => ({ ...before, sent }));
    setStatus({ type: "sending" });
    setStatus(await submitAnswer(client, approval, sent));
  }

  return {
    draft,
    update: (changes) => setDraft((before) => ({ ...before, ...changes })),
    status,
    submit: async (client, approval, answer, text = "") => {
      // A new answer may have another text, which needs another key. A retry keeps both.
      const key = `decline-${approval.id}-${Date.now().toString(36)}`;
      const message = text.trim() === "" ? null : { text: text.trim(), key };
      await send(client, approval, { answer, message });
    },
    retry: async (client, approval) => {
      const { sent } = draft();
      if (sent) await send(client, approval, sent);
    },
  };
}
