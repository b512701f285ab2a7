import type { Session } from "@codexkit/daemon/client";
import { createSignal, type JSX, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { toHref } from "../routing/index.ts";
import { formatCount } from "../ui/index.ts";
import { formatAge } from "./group-sessions.ts";
import { folderName, sessionTitle } from "../settings/session-title.ts";
import { pinnedSessions, togglePin } from "./pins.ts";

const PHASES: Readonly<Record<Session["phase"], string>> = {
  ready: "starting",
  running: "running",
  waiting: "needs you",
  parked: "needs you",
  idle: "idle",
  stranded: "stranded",
  moving: "moving",
  failed: "failed",
  deleted: "deleted",
};

export interface SessionRowProps {
  readonly session: Session;
  /** Whether the name is being edited. */
  readonly isRenaming: boolean;
  readonly onRename: (name: string | undefined) => void;
  readonly onStartRename: () => void;
  readonly onArchive: () => void;
  readonly onDelete: () => void;
}

export function SessionRow(props: SessionRowProps): JSX.Element {
  const daemon = useDaemon();
  const [isOpen, setOpen] = createSignal(false);
  const title = (): string => sessionTitle(props.session);
  return (
    <li
      class="listed-row"
      data-session={props.session.id}
      data-phase={props.session.phase}
      data-open={isOpen() ? "" : undefined}
    >
      <Show
        when={!props.isRenaming}
        fallback={<RenameField name={props.session.name ?? ""} onDone={(name) => props.onRename(name)} />}
      >
        <a class="listed-link" href={toHref(`/s/${encodeURIComponent(props.session.id)}`)}>
          <span class="listed-title">{title()}</span>
          <span class="listed-facts">
            <span class="listed-phase">{PHASES[props.session.phase]}</span>
            <span title={props.session.cwd}>{folderName(props.session.cwd)}</span>
            <Show when={props.session.settings.model}>{(model) => <span>{model()}</span>}</Show>
            <Show when={props.session.usage}>
              {(usage) => <span>{formatCount(usage().totalTokens)} tokens</span>}
            </Show>
            <span>{formatAge(props.session.updatedAt, daemon.clock())}</span>
          </span>
        </a>
      </Show>
      <button
        type="button"
        class="button button-quiet listed-more"
        aria-expanded={isOpen()}
        aria-label={`Actions for ${title()}`}
        onClick={() => setOpen(!isOpen())}
      >
        ⋯
      </button>
      <div class="listed-actions">
        <button
          type="button"
          class="button button-quiet"
          aria-pressed={pinnedSessions().has(props.session.id)}
          aria-label={`Pin ${title()}`}
          onClick={() => togglePin(props.session.id)}
        >
          {pinnedSessions().has(props.session.id) ? "Pinned" : "Pin"}
        </button>
        <Show when={daemon.can("write")}>
          <button
            type="button"
            class="button button-quiet"
            aria-label={`Rename ${title()}`}
            onClick={() => props.onStartRename()}
          >
            Rename
          </button>
          <button
            type="button"
            class="button button-quiet"
            aria-label={`${props.session.archivedAt === null ? "Archive" : "Restore"} ${title()}`}
            onClick={() => props.onArchive()}
          >
            {props.session.archivedAt === null ? "Archive" : "Restore"}
          </button>
          <button
            type="button"
            class="button button-quiet button-danger"
            aria-label={`Delete ${title()}`}
            onClick={() => props.onDelete()}
          >
            Delete
          </button>
        </Show>
      </div>
    </li>
  );
}

/** An editor for the name. Enter saves it. Escape and leaving the field discard the change. */
function RenameField(props: {
  readonly name: string;
  readonly onDone: (name: string | undefined) => void;
}): JSX.Element {
  const [isDone, setDone] = createSignal(false);
  const finish = (name: string | undefined): void => {
    if (isDone()) return;
    setDone(true);
    props.onDone(name);
  };
  return (
    <input
      class="input listed-rename"
      aria-label="New name"
      maxlength="256"
      ref={(element) =>
        queueMicrotask(() => {
          // Not a property of the element, because every change of the session would set it again.
          element.value = props.name;
          element.focus();
          element.select();
        })
      }
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") finish(event.currentTarget.value.trim() || undefined);
        if (event.key === "Escape") finish(undefined);
      }}
      onBlur={() => finish(undefined)}
    />
  );
}
