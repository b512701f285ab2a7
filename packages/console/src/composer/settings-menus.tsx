import type { CommandBody, Session } from "@codexkit/daemon/client";
import { createResource, createSignal, For, type JSX, lazy, Show, Suspense } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { AGENT_MODES, PERMISSION_MODES } from "../settings/choices.ts";
import { effortsOf, loadModels } from "../settings/models.ts";
import { loadedValue } from "../ui/index.ts";

const ConfirmMode = lazy(async () => import("./confirm-mode.tsx"));

type PermissionMode = Session["settings"]["permissionMode"];

/** Modes that must be confirmed: an arrow key on the focused menu is enough to select one. */
const WITHOUT_SANDBOX: ReadonlySet<PermissionMode> = new Set(["danger-full-access", "bypass"]);

/** Model, effort and modes of the session. Changes apply from the next turn. */
export function SettingsMenus(props: {
  readonly settings: Session["settings"];
  /** Resolves to whether the change was accepted. */
  readonly onChange: (change: CommandBody<"settings">) => Promise<boolean>;
}): JSX.Element {
  const { client } = useDaemon();
  const [models] = createResource(async () => loadModels(client).catch(() => []));
  const efforts = (): readonly string[] =>
    withCurrent(effortsOf(loadedValue(models) ?? [], props.settings.model), props.settings.effort);
  const modelNames = (): readonly string[] =>
    withCurrent(
      (loadedValue(models) ?? []).map(({ model }) => model),
      props.settings.model,
    );
  const [confirming, setConfirming] = createSignal<{
    readonly mode: PermissionMode;
    readonly answer: (isConfirmed: boolean) => void;
  }>();
  const confirmMode = async (mode: PermissionMode): Promise<boolean> =>
    new Promise((answer) => setConfirming({ mode, answer }));
  const answerConfirmation = (isConfirmed: boolean): void => {
    confirming()?.answer(isConfirmed);
    setConfirming(undefined);
  };
  return (
    <div class="composer-menus">
      <Menu
        label="Model"
        value={props.settings.model ?? ""}
        options={["", ...modelNames()].map((model) => [model, model || "default model"])}
        onChange={async (model) => model !== "" && props.onChange({ model })}
      />
      <Show when={efforts().length > 0}>
        <Menu
          label="Effort"
          value={props.settings.effort ?? ""}
          options={["", ...efforts()].map((effort) => [effort, effort || "default effort"])}
          onChange={async (effort) => effort !== "" && props.onChange({ effort })}
        />
      </Show>
      <Menu
        label="Agent mode"
        value={props.settings.agentMode}
        options={AGENT_MODES.map(({ value, label }) => [value, label])}
        onChange={async (agentMode) => props.onChange({ agentMode })}
      />
      <Menu
        label="Permissions"
        value={props.settings.permissionMode}
        options={PERMISSION_MODES.map(({ value, label }) => [value, label])}
        onChange={async (permissionMode) =>
          (!WITHOUT_SANDBOX.has(permissionMode) || (await confirmMode(permissionMode))) &&
          props.onChange({ permissionMode })
        }
      />
      <Show when={confirming()}>
        {(asked) => (
          <Suspense>
            <ConfirmMode mode={asked().mode} onAnswer={answerConfirmation} />
          </Suspense>
        )}
      </Show>
    </div>
  );
}

function Menu<Value extends string>(props: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  /** Resolves to whether the value was accepted. */
  readonly onChange: (value: Value) => Promise<boolean>;
}): JSX.Element {
  const change = async (select: HTMLSelectElement): Promise<void> => {
    const isAccepted = await props.onChange(select.value as Value);
    // The menu must not show a value that does not apply.
    if (!isAccepted) select.value = props.value;
  };
  return (
    <select
      class="composer-menu"
      aria-label={props.label}
      title={props.label}
      onChange={(event) => void change(event.currentTarget)}
    >
      <For each={props.options}>
        {([value, label]) => (
          <option value={value} selected={value === props.value}>
            {label}
          </option>
        )}
      </For>
    </select>
  );
}

/** The current value may be one that Codex does not list. */
function withCurrent(values: readonly string[], current: string | undefined): readonly string[] {
  return current === undefined || values.includes(current) ? values : [current, ...values];
}
