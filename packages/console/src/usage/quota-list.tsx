import { createResource, For, type JSX, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { formatDuration, loadedValue } from "../ui/index.ts";
import { Meter } from "./meter.tsx";

/** The usage of each window of the account's quotas. */
export function QuotaList(): JSX.Element {
  const { client, clock } = useDaemon();
  const [quotas] = createResource(async () =>
    client.request("GET /account/quotas").then(
      ({ data }) => data,
      () => undefined,
    ),
  );
  const windows = () =>
    (loadedValue(quotas) ?? []).flatMap(({ id, name, windows: all }) =>
      all.map((window) => ({ ...window, label: `${name ?? id ?? "Quota"}, ${windowName(window.minutes)}` })),
    );
  const describe = (usedPercent: number, resetsAt: number | null): string => {
    const used = `${Math.round(usedPercent)} % used`;
    return resetsAt === null || resetsAt < clock()
      ? used
      : `${used}, resets in ${formatDuration(resetsAt - clock())}`;
  };
  return (
    <Show when={!quotas.loading}>
      <For
        each={windows()}
        fallback={<p class="muted">Codex reports no quotas. Accounts with an API key have none.</p>}
      >
        {({ label, usedPercent, resetsAt }) => (
          <Meter label={label} value={usedPercent / 100} text={describe(usedPercent, resetsAt)} />
        )}
      </For>
    </Show>
  );
}

function windowName(minutes: number | null): string {
  return minutes === null ? "window" : formatDuration(minutes * 60_000);
}
