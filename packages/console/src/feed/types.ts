import type {
  Approval,
  Command,
  DaemonClient,
  Item,
  Node,
  Scope,
  Session,
  SessionEvent,
  TurnSummary,
} from "@codexkit/daemon/client";
import type { Accessor } from "solid-js";

/** An item of Codex: a message, command, patch or tool call. `type` is its kind. */
export type ThreadItem = Extract<SessionEvent, { readonly type: "item.completed" }>["item"];
export type ThreadItemOf<Kind extends ThreadItem["type"]> = Extract<ThreadItem, { readonly type: Kind }>;
export type Usage = NonNullable<Session["usage"]>;
export type PlanStep = Extract<SessionEvent, { readonly type: "plan.updated" }>["plan"][number];

/**
 * - `connecting`: no data yet.
 * - `live`: up to date.
 * - `behind`: connected, and reading events of the past. `pending` is their number.
 * - `reconnecting`: lost less than 10 s ago. The page stays usable; commands wait.
 * - `down`: lost for longer. The data on screen is as old as `since`.
 * - `signed-out`: the daemon refuses the token.
 */
export type ConnectionState = "connecting" | "live" | "behind" | "reconnecting" | "down" | "signed-out";

export interface Connection {
  readonly state: ConnectionState;
  /** When this state began, in milliseconds since the epoch. */
  readonly since: number;
  /** When the page was up to date for the last time. Null if it never was. */
  readonly dataFrom: number | null;
  /** Events that are still to come, if `state` is `behind`. */
  readonly pending: number;
}

/** The token of this browser. */
export interface SignedInAs {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
}

/**
 * The page's state of the daemon. Functions without arguments are signals: JSX and effects that call them run again when the value
 * changes.
 */
export interface DaemonFeed {
  /** The client of the API. All mutations use it. Their results arrive through the signals below. */
  readonly client: DaemonClient;
  readonly connection: Accessor<Connection>;
  /** Undefined until the daemon has responded, and after a logout. */
  readonly identity: Accessor<SignedInAs | undefined>;
  /** Whether the token has a scope. Controls that it may not use should be omitted, not disabled. */
  readonly can: (scope: Scope) => boolean;
  /** Whether `sessions` and `inbox` have been read. */
  readonly isLoaded: Accessor<boolean>;
  /** All unarchived and some archived sessions, most recently changed first. */
  readonly sessions: Accessor<readonly Session[]>;
  readonly session: (id: string) => Session | undefined;
  /** Unanswered approvals, in state `open` or `parked`, oldest first. */
  readonly inbox: Accessor<readonly Approval[]>;
  /** The nodes of the fleet, as of the newest connection or refresh. */
  readonly nodes: Accessor<readonly Node[]>;
  readonly refreshNodes: () => Promise<void>;
  /** Whether the node of a session matters, because there are several nodes, or one is lost. */
  readonly isFleet: Accessor<boolean>;
  /** An approval in any state that this page has seen, by its ID. */
  readonly approval: (id: string) => Approval | undefined;
  /**
   * Opens a session: loads its newest items and follows its events until the caller's owner is disposed of. Callers share
   * one view per session.
   */
  readonly watch: (sessionId: string) => SessionView;
  /** The current time, updated once per second while it has readers. Milliseconds since the epoch. */
  readonly clock: Accessor<number>;
  /** Reconnects immediately if the connection is lost. */
  readonly reconnect: () => void;
  /** Reads the identity again and connects, after a login. */
  readonly signIn: () => Promise<void>;
  readonly signOut: () => Promise<void>;
}

/**
 * An item of the transcript. Its properties are reactive: JSX that reads a property is updated when the property changes, without
 * updates of other rows.
 */
export interface TranscriptItem {
  readonly type: "item";
  /** Unique in the session. */
  readonly key: string;
  readonly id: string;
  readonly threadId: string;
  readonly turnId: string;
  readonly kind: ThreadItem["type"];
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly status: Item["status"];
  /** Codex's item. Long texts are truncated, see `truncated`. Texts that are still streamed are in `text`. */
  readonly item: ThreadItem;
  /** Original lengths of truncated texts and lists, by JSON pointer, such as `/aggregatedOutput`. */
  readonly truncated: Readonly<Record<string, number>>;
  /** The main text: a message, the output of a command, a plan, or the reasoning summary. */
  readonly text: string;
  /** The daemon had merged deltas of the text, which it does with old ones. The text is complete. */
  readonly wasMerged: boolean;
  /** The item was read from the thread's history, after a crash. */
  readonly wasRecovered: boolean;
}

/** An event other than an item, as a line of the transcript. */
export interface TranscriptNotice {
  readonly type: "notice";
  readonly key: string;
  readonly firstSeq: number;
  readonly at: number;
  /** Undefined for notices of the session itself. */
  readonly turnId: string | undefined;
  /** The event that is shown. */
  readonly event: SessionEvent;
}

export type TranscriptEntry = TranscriptItem | TranscriptNotice;

export interface Plan {
  readonly turnId: string | null;
  readonly steps: readonly PlanStep[];
  readonly explanation: string | null;
}

export interface TurnDiff {
  readonly turnId: string | null;
  /** Unified diff of the whole turn. */
  readonly diff: string;
}

export interface SessionUsage {
  readonly total: Usage | null;
  /** The plan of the newest turn. */
  readonly turn: Usage | null;
  readonly contextWindow: number | null;
}

/** An agent: a thread that was started by another thread. */
export interface Agent {
  readonly threadId: string;
  readonly parentThreadId: string | null;
  /** Name or path, if Codex has given one. */
  readonly name: string | null;
  readonly status: string;
  readonly prompt: string | null;
  readonly model: string | null;
  /** The newest message of the agent. */
  readonly message: string | null;
  readonly firstSeq: number;
}

/** A session that is open in this page. Functions without arguments are signals. */
export interface SessionView {
  readonly id: string;
  /** The newest summary. Undefined until it has been read. */
  readonly session: Accessor<Session | undefined>;
  readonly status: Accessor<"loading" | "ready" | "missing">;
  /** The loaded part of the transcript, oldest first, of the session's own thread and of its agents. */
  readonly entries: Accessor<readonly TranscriptEntry[]>;
  /** The items of the transcript. */
  readonly items: Accessor<readonly TranscriptItem[]>;
  /** The newest item with this ID, if it is loaded. */
  readonly item: (itemId: string) => TranscriptItem | undefined;
  /** The turns, oldest first. */
  readonly turns: Accessor<readonly TurnSummary[]>;
  readonly phase: Accessor<Session["phase"] | undefined>;
  readonly plan: Accessor<Plan | null>;
  /** Diff of the newest turn that changed files. */
  readonly diff: Accessor<TurnDiff | null>;
  readonly usage: Accessor<SessionUsage>;
  readonly agents: Accessor<readonly Agent[]>;
  /** Commands that have not finished, such as queued messages, in their order. */
  readonly queue: Accessor<readonly Command[]>;
  /** Approvals of this session that the page has seen, in any state, oldest first. */
  readonly approvals: Accessor<readonly Approval[]>;
  /** Missing events, with the reason. */
  readonly gaps: Accessor<readonly Extract<SessionEvent, { readonly type: "gap" }>[]>;
  /** The sequence number of the newest event that was applied. */
  readonly lastSeq: Accessor<number>;
  /** Whether older entries exist that can be loaded. */
  readonly hasOlder: Accessor<boolean>;
  /**
   * Whether the page's limit of text per session was reached: `dropped` if the oldest entries were dropped, `full` if no older ones
   * can be loaded because the reader looks at old ones.
   */
  readonly textLimit: Accessor<"none" | "dropped" | "full">;
  /** Whether the last attempt to load older entries has failed. */
  readonly hasOlderFailed: Accessor<boolean>;
  /** Loads the page of entries before the oldest one. Never rejects, see `hasOlderFailed`. */
  readonly loadOlder: () => Promise<void>;
  /** Loads the items of these events from the history, such as those of a gap. Rejects if the connection is lost. */
  readonly loadRange: (from: number, to: number) => Promise<void>;
  /** Loads the entries around a sequence number, such as `firstSeq` of a turn. */
  readonly loadAround: (seq: number) => Promise<void>;
  /**
   * Keeps entries beyond the limit while the reader looks at old ones. Otherwise the oldest are dropped, and `hasOlder` becomes
   * true.
   */
  readonly keepOlder: (isNeeded: boolean) => void;
  /** Calls the listener with each new event, until the caller's owner is disposed of. */
  readonly onEvent: (listener: (event: SessionEvent) => void) => void;
}
