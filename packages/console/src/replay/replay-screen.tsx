import { createSignal, For, type JSX, Show } from "solid-js";
import { DaemonContext } from "../feed/daemon-context.ts";
import { useDaemon } from "../feed/index.ts";
import { sessionTitle } from "../settings/session-title.ts";
import { Transcript } from "../transcript/transcript.tsx";
import { formatCount, ProblemText } from "../ui/index.ts";
import { createPlayer } from "./create-player.ts";
import { type ExportedSession, ExportError, readExport } from "./read-export.ts";
import { formatPosition, SPEEDS } from "./replay-clock.ts";
import "./replay.css";

/** Replays an exported session. The file stays in the browser. */
export default function ReplayScreen(): JSX.Element {
  const [exported, setExported] = createSignal<ExportedSession>();
  const [problem, setProblem] = createSignal<string>();
  const [isReading, setReading] = createSignal(false);

  const open = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    setReading(true);
    setProblem(undefined);
    try {
      setExported(await readExport(chunksOf(file)));
    } catch (error) {
      setProblem(error instanceof ExportError ? error.message : "The file can't be read.");
    }
    setReading(false);
  };

  return (
    <Show
      when={exported()}
      keyed
      fallback={
        <section
          class="screen replay-open"
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            void open(event.dataTransfer?.files[0]);
          }}
        >
          <h1>Replay</h1>
          <p>
            Open a session that was exported with <code>codexkit sessions export</code> or{" "}
            <code>GET /sessions/&#123;sessionId&#125;/export</code>. The file stays in this browser.
          </p>
          <label class="field">
            <span>Exported session</span>
            <input
              class="input"
              type="file"
              accept=".jsonl,application/jsonl"
              onChange={(event) => void open(event.currentTarget.files?.[0])}
            />
          </label>
          <p role="status">{isReading() ? "Reading…" : ""}</p>
          <ProblemText text={problem()} />
          <p class="muted">
            To look at a session with all panels, serve the file instead:{" "}
            <code>codexkit serve --replay FILE</code>.
          </p>
        </section>
      }
    >
      {(session) => <Replay exported={session} onClose={() => setExported(undefined)} />}
    </Show>
  );
}

function Replay(props: { readonly exported: ExportedSession; readonly onClose: () => void }): JSX.Element {
  const daemon = useDaemon();
  const player = createPlayer(props.exported);
  const shown = (): number => player.clock.countAt(player.position());
  const total = props.exported.events.length;
  return (
    <div class="replay">
      <header class="replay-header">
        <h1>{sessionTitle(props.exported.session)}</h1>
        <span class="muted">Replay of a file</span>
        <button type="button" class="button" onClick={() => props.onClose()}>
          Close
        </button>
      </header>
      {/* Rows read from the file instead of the daemon, and offer no mutations. */}
      <DaemonContext.Provider
        value={{ ...daemon, client: player.client, session: player.session, can: () => false }}
      >
        <Show when={player.view()} keyed>
          {(view) => <Transcript view={view} openPanel={() => {}} />}
        </Show>
      </DaemonContext.Provider>
      <div class="replay-controls" role="group" aria-label="Player">
        <button
          type="button"
          class="button button-primary"
          onClick={() => (player.isPlaying() ? player.pause() : player.play())}
        >
          {player.isPlaying() ? "Pause" : "Play"}
        </button>
        <button
          type="button"
          class="button"
          aria-label="Previous event"
          onClick={() => player.seek(player.clock.positionOf(shown() - 1) - 1)}
        >
          ‹
        </button>
        <button
          type="button"
          class="button"
          aria-label="Next event"
          onClick={() => player.seek(player.clock.positionOf(shown()))}
        >
          ›
        </button>
        <input
          type="range"
          class="replay-slider"
          aria-label="Position"
          min="0"
          max={player.clock.duration}
          step="1"
          aria-valuetext={`${formatPosition(player.position())} of ${formatPosition(player.clock.duration)}`}
          value={player.position()}
          onInput={(event) => {
            player.pause();
            player.seek(Number(event.currentTarget.value));
          }}
        />
        <span class="replay-time">
          {formatPosition(player.position())} / {formatPosition(player.clock.duration)}
        </span>
        <label class="replay-speed">
          <span class="visually-hidden">Speed</span>
          <select class="input" onChange={(event) => player.setSpeed(Number(event.currentTarget.value))}>
            <For each={SPEEDS}>
              {(speed) => (
                <option value={speed} selected={speed === player.speed()}>
                  {speed} ×
                </option>
              )}
            </For>
          </select>
        </label>
        <span class="muted">
          {formatCount(shown())} of {formatCount(total)} events
        </span>
      </div>
    </div>
  );
}

async function* chunksOf(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield value;
  }
}
