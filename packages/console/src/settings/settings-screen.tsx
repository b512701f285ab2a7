import { type JSX, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { toHref } from "../routing/index.ts";
import { formatDuration } from "../ui/index.ts";
import { KeySettings } from "./key-settings.tsx";
import { LoginList } from "./login-list.tsx";
import { changePreferences, type Preferences, preferences } from "./preferences.ts";
import { NotificationSettings } from "./notification-settings.tsx";
import { PolicyTester } from "./policy-tester.tsx";
import { Choice, Toggle } from "./setting-fields.tsx";
import "./settings.css";

export default function SettingsScreen(): JSX.Element {
  return (
    <section class="screen settings">
      <h1>Settings</h1>
      <ConnectionSettings />
      <section aria-labelledby="settings-page">
        <h2 id="settings-page">Appearance</h2>
        <Choice
          legend="Theme"
          value={preferences().theme}
          choices={THEMES}
          onChange={(theme) => changePreferences({ theme })}
        />
        <Choice
          legend="Density"
          value={preferences().density}
          choices={DENSITIES}
          onChange={(density) => changePreferences({ density })}
        />
      </section>
      <section aria-labelledby="settings-keys">
        <h2 id="settings-keys">Keyboard</h2>
        <Toggle
          label="Single keys are shortcuts"
          hint="Such as j and k in lists. Switch them off for speech input. Press ? for all keys."
          value={preferences().singleKeys}
          onChange={(singleKeys) => changePreferences({ singleKeys })}
        />
        <KeySettings />
        <Choice
          legend="Enter while a turn is running"
          value={preferences().enterWhileRunning}
          choices={ENTER}
          onChange={(enterWhileRunning) => changePreferences({ enterWhileRunning })}
        />
      </section>
      <NotificationSettings />
      <section aria-labelledby="settings-terminal">
        <h2 id="settings-terminal">Terminal</h2>
        <Toggle
          label="Screen reader mode"
          hint="Terminals have a copy of their text that screen readers can read. It costs speed."
          value={preferences().terminalScreenReader}
          onChange={(terminalScreenReader) => changePreferences({ terminalScreenReader })}
        />
      </section>
      <PolicyTester />
    </section>
  );
}

const THEMES: readonly (readonly [Preferences["theme"], string])[] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

const DENSITIES: readonly (readonly [Preferences["density"], string])[] = [
  ["comfortable", "Comfortable"],
  ["compact", "Compact"],
];

const ENTER: readonly (readonly [Preferences["enterWhileRunning"], string])[] = [
  ["queue", "Queues the message"],
  ["steer", "Adds it to the turn"],
];

function ConnectionSettings(): JSX.Element {
  const daemon = useDaemon();
  return (
    <section aria-labelledby="settings-connection">
      <h2 id="settings-connection">Connection</h2>
      <dl class="settings-facts">
        <dt>Daemon</dt>
        <dd>{location.origin}</dd>
        <dt>State</dt>
        <dd>
          {daemon.connection().state} for {formatDuration(daemon.clock() - daemon.connection().since)}
        </dd>
        <Show when={daemon.identity()}>
          {(identity) => (
            <>
              <dt>Signed in as</dt>
              <dd>{identity().name}</dd>
              <dt>Scopes</dt>
              <dd>{identity().scopes.join(", ")}</dd>
            </>
          )}
        </Show>
      </dl>
      <div class="settings-actions">
        <a class="button" href={toHref("/pair")}>
          Pair a device
        </a>
        <button type="button" class="button" onClick={() => daemon.reconnect()}>
          Reconnect
        </button>
        <button type="button" class="button button-danger" onClick={() => void daemon.signOut()}>
          Sign out
        </button>
      </div>
      <Show when={daemon.can("admin")}>
        <LoginList />
      </Show>
    </section>
  );
}
