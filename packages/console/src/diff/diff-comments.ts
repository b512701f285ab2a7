import { type DaemonClient, DaemonClientError } from "@codexkit/daemon/client";
import { type Accessor, createSignal } from "solid-js";
import { type LineComment, toMessage } from "./line-comments.ts";

/** Where a comment is being written. */
export type CommentPlace = Pick<LineComment, "path" | "side" | "line" | "code">;

export interface DiffComments {
  readonly comments: Accessor<readonly LineComment[]>;
  /** The line whose editor is open. */
  readonly editing: Accessor<CommentPlace | null>;
  /** Text of the open editor. */
  readonly text: Accessor<string>;
  readonly setText: (text: string) => void;
  readonly edit: (place: CommentPlace | null) => void;
  /** Saves the text of the open editor as a comment. */
  readonly save: () => void;
  readonly remove: (id: number) => void;
  /** The reason why the comments could not be sent, or null. */
  readonly problem: Accessor<string | null>;
  readonly isSending: Accessor<boolean>;
  /** Sends all comments as one message. They are removed when the daemon has accepted it. */
  readonly send: (client: DaemonClient, sessionId: string, mode: "queue" | "steer") => Promise<void>;
}

const bySession = new Map<string, DiffComments>();

/** Number of sessions whose comments are kept while other sessions are open. */
const MAX_SESSIONS = 20;

/** Returns the comments on the diffs of a session, which are kept when the panel is closed. */
export function commentsOf(sessionId: string): DiffComments {
  const known = bySession.get(sessionId);
  if (known) return known;
  const created = createComments();
  bySession.set(sessionId, created);
  const oldest = bySession.keys().next().value;
  if (bySession.size > MAX_SESSIONS && oldest !== undefined) bySession.delete(oldest);
  return created;
}

function createComments(): DiffComments {
  const [comments, setComments] = createSignal<readonly LineComment[]>([]);
  const [editing, setEditing] = createSignal<CommentPlace | null>(null);
  const [text, setText] = createSignal("");
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isSending, setIsSending] = createSignal(false);
  let lastId = 0;
  /** The message that is being sent. A retry has the same key, so that the agent receives it once. */
  let sent: { readonly message: string; readonly mode: string; readonly key: string } | undefined;

  return {
    comments,
    editing,
    text,
    setText,
    edit: (place) => {
      setEditing(place);
      setText("");
    },
    save: () => {
      const place = editing();
      const written = text().trim();
      setEditing(null);
      if (!place || written === "") return;
      lastId += 1;
      setComments((before) => [...before, { ...place, id: lastId, text: written }]);
      setText("");
    },
    remove: (id) => setComments((before) => before.filter((comment) => comment.id !== id)),
    problem,
    isSending,
    send: async (client, sessionId, mode) => {
      const all = comments();
      if (all.length === 0 || isSending()) return;
      const message = toMessage(all);
      if (sent?.message !== message || sent.mode !== mode) {
        sent = { message, mode, key: `comments-${Date.now().toString(36)}-${lastId}` };
      }
      setIsSending(true);
      setProblem(null);
      try {
        await client.send(sessionId, message, { mode, idempotencyKey: sent.key });
        setComments((before) => before.filter((comment) => !all.includes(comment)));
        sent = undefined;
      } catch (error) {
        const detail = DaemonClientError.is(error) ? error.problem?.detail : undefined;
        setProblem(detail ?? "The daemon can't be reached.");
      } finally {
        setIsSending(false);
      }
    },
  };
}
