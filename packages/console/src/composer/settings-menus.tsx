import type { CommandBody, Session } from "@codexkit/daemon/client";
import { createResource, For, Show, type JSX } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { AGENT_MODES, PERMISSION_MODES } from "../settings/choices.ts";
import { effortsOf, loadModels } from "../settings/models.ts";
import { loadedValue } from "../ui/index.ts";

/** Model, effort and modes of the session. Changes apply from the next turn. */
export function SettingsMenus(props: {
  readonly settings: Session["settings"];
  readonly onChange: (change: CommandBody<"settings">) => void;
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
  return (
    <div class="composer-menus">
      <Menu
        label="Model"
        value={props.settings.model ?? ""}
        options={["", ...modelNames()].map((model) => [model, model || "default model"])}
        onChange={(model) => model !== "" && props.onChange({ model })}
      />
      <Show when={efforts().length > 0}>
        <Menu
          label="Effort"
          value={props.settings.effort ?? ""}
          options={["", ...efforts()].map((effort) => [effort, effort || "default effort"])}
          onChange={(effort) => effort !== "" && props.onChange({ effort })}
        />
      </Show>
      <Menu
        label="Agent mode"
        value={props.settings.agentMode}
        options={AGENT_MODES.map(({ value, label }) => [value, label])}
        onChange={(agentMode) => props.onChange({ agentMode })}
      />
      <Menu
        label="Permissions"
        value={props.settings.permissionMode}
        options={PERMISSION_MODES.map(({ value, label }) => [value, label])}
        onChange={(permissionMode) => props.onChange({ permissionMode })}
      />
    </div>
  );
}

function Menu<Value extends string>(props: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  readonly onChange: (value: Value) => void;
}): JSX.Element {
  return (
    <select
      class="composer-menu"
      aria-label={props.label}
      title={props.label}
      onChange={(event) => props.onChange(event.currentTarget.value as Value)}
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
