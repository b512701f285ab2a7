import { createSignal, type JSX, Show } from "solid-js";
import { changePreferences, preferences } from "./preferences.ts";
import { Toggle } from "./setting-fields.tsx";
import { ProblemText } from "../ui/index.ts";

/** Settings for this browser's notifications about open approvals. */
export function NotificationSettings(): JSX.Element {
  const [problem, setProblem] = createSignal<string>();
  const enable = async (isOn: boolean): Promise<void> => {
    setProblem(undefined);
    if (isOn && (await Notification.requestPermission()) !== "granted") {
      setProblem("The browser does not allow notifications of this page. Change that in its site settings.");
      return;
    }
    changePreferences({ notifications: isOn });
  };
  return (
    <section aria-labelledby="settings-notifications">
      <h2 id="settings-notifications">Notifications</h2>
      <Show
        when={isSecureContext && "Notification" in globalThis}
        fallback={
          <p>
            Browsers show notifications only for pages with HTTPS or on this machine, and this page is at{" "}
            {location.origin}. Use a webhook of the daemon instead, for example one that posts to a chat.
          </p>
        }
      >
        <Toggle
          label="Notify me when a session needs me"
          hint="The notification has the name of the session and the kind of the request, never its text."
          value={preferences().notifications}
          onChange={(isOn) => void enable(isOn)}
        />
      </Show>
      <ProblemText text={problem()} />
    </section>
  );
}
