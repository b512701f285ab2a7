import { DaemonClientError } from "@codexkit/daemon/client";
import { createMemo, createResource, createSignal, For, type JSX, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { navigate } from "../routing/index.ts";
import { AGENT_MODES, APPROVAL_POLICIES, PERMISSION_MODES } from "../settings/choices.ts";
import { explainError } from "../settings/explain-error.ts";
import { storedValue } from "../settings/local-store.ts";
import { effortsOf, loadModels } from "../settings/models.ts";
import { CredentialsHint } from "./credentials-hint.tsx";
import { type ControlAttributes, FormField } from "../ui/form-field.tsx";
import {
  EMPTY_FORM,
  fieldErrors,
  type FieldErrors,
  type FieldName,
  parseForm,
  readForm,
  type SessionForm,
  withoutSecrets,
} from "./session-form.ts";
import "./new-session.css";
import { loadedValue, ProblemText } from "../ui/index.ts";

export default function NewSessionScreen(): JSX.Element {
  const daemon = useDaemon();
  return (
    <section class="screen">
      <h1>New session</h1>
      <Show
        when={daemon.can("write")}
        fallback={<p>Your token can only read. Sign in with a token that has the scope write.</p>}
      >
        <CredentialsHint />
        <NewSessionForm />
      </Show>
    </section>
  );
}

function NewSessionForm(): JSX.Element {
  const { client, sessions } = useDaemon();
  const stored = storedValue("new-session", parseForm);
  const [form, setForm] = createSignal<SessionForm>(stored.read());
  const [errors, setErrors] = createSignal<FieldErrors>({});
  const [problem, setProblem] = createSignal<string>();
  const [isSending, setSending] = createSignal(false);
  const [models] = createResource(async () => loadModels(client).catch(() => []));
  const folders = createMemo(() => [...new Set(sessions().map(({ cwd }) => cwd))].slice(0, 20));
  let element!: HTMLFormElement;

  const change = (field: FieldName, value: string): void => {
    setForm({ ...form(), [field]: value });
    setErrors(({ [field]: _corrected, ...others }) => others);
    stored.write(withoutSecrets(form()));
  };

  const displayErrors = (fields: FieldErrors): void => {
    setErrors(fields);
    const first = Object.keys(EMPTY_FORM).find((field) => fields[field as FieldName] !== undefined);
    // Fields in a collapsed group can't receive the focus.
    const field = element.querySelector<HTMLElement>(`#new-${first ?? "none"}`);
    field?.closest("details")?.setAttribute("open", "");
    field?.focus();
  };

  const submit = async (): Promise<void> => {
    setProblem(undefined);
    const read = readForm(form(), Date.now());
    if ("errors" in read) return displayErrors(read.errors);
    setSending(true);
    try {
      const { session, command } = await client.createSession(read.body, { wait: 20_000 });
      if (command.problem) return displayProblem(command.problem);
      const message = form().message.trim();
      if (message !== "") await client.send(session.id, message);
      stored.write({ ...withoutSecrets(form()), name: "", message: "" });
      navigate(`/s/${encodeURIComponent(session.id)}`);
    } catch (error) {
      if (DaemonClientError.is(error) && error.problem) displayProblem(error.problem);
      else setProblem(explainError(error));
    } finally {
      setSending(false);
    }
  };

  const displayProblem = (received: Parameters<typeof fieldErrors>[0]): void => {
    const { fields, general } = fieldErrors(received);
    setProblem(general);
    displayErrors(fields);
  };

  /** A field of the form. Passes the attributes of the control to the children. */
  const Field = (props: {
    readonly name: FieldName;
    readonly label: string;
    readonly hint?: string;
    readonly children: (control: ControlAttributes) => JSX.Element;
  }): JSX.Element => (
    <FormField
      id={`new-${props.name}`}
      label={props.label}
      hint={props.hint}
      error={errors()[props.name]}
      value={form()[props.name]}
      onInput={(value) => change(props.name, value)}
    >
      {props.children}
    </FormField>
  );

  return (
    <form
      class="new-session"
      ref={(node) => (element = node)}
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field name="cwd" label="Folder" hint={HINTS.cwd}>
        {(control) => (
          <>
            <input {...control} list="new-folders" required autocomplete="off" spellcheck={false} />
            <datalist id="new-folders">
              <For each={folders()}>{(folder) => <option value={folder} />}</For>
            </datalist>
          </>
        )}
      </Field>
      <Field name="message" label="First message">
        {(control) => <textarea {...control} rows="4" />}
      </Field>
      <div class="new-session-row">
        <Field name="model" label="Model">
          {(control) => (
            <select {...control}>
              <option value="">Default</option>
              <For each={loadedValue(models)}>
                {({ model, name }) => (
                  <option value={model} selected={form().model === model}>
                    {name}
                  </option>
                )}
              </For>
            </select>
          )}
        </Field>
        <Field name="effort" label="Effort">
          {(control) => (
            <select {...control}>
              <option value="">Default</option>
              <For each={effortsOf(loadedValue(models) ?? [], form().model)}>
                {(effort) => (
                  <option value={effort} selected={form().effort === effort}>
                    {effort}
                  </option>
                )}
              </For>
            </select>
          )}
        </Field>
        <Field name="name" label="Name">
          {(control) => <input {...control} maxlength="256" autocomplete="off" />}
        </Field>
      </div>
      <Choices
        legend="Permissions"
        field="permissionMode"
        choices={PERMISSION_MODES}
        value={form().permissionMode}
        onChange={change}
      />
      <Choices
        legend="Agent mode"
        field="agentMode"
        choices={AGENT_MODES}
        value={form().agentMode}
        onChange={change}
      />
      <details class="new-session-more">
        <summary>Approvals, limits and environment</summary>
        <div class="new-session-group">
          <Choices
            legend="When Codex asks"
            field="approvalPolicy"
            choices={APPROVAL_POLICIES}
            value={form().approvalPolicy}
            onChange={change}
          />
          <div class="new-session-row">
            <Field name="budget" label="Budget" hint={HINTS.budget}>
              {(control) => <input {...control} autocomplete="off" />}
            </Field>
            <Field name="deadline" label="Deadline" hint={HINTS.deadline}>
              {(control) => <input {...control} autocomplete="off" />}
            </Field>
          </div>
          <div class="new-session-row">
            <Field name="environmentUrl" label="Exec-server" hint={HINTS.environmentUrl}>
              {(control) => (
                <input {...control} placeholder="wss://…" autocomplete="off" spellcheck={false} />
              )}
            </Field>
            <Field name="environmentToken" label="Token of the exec-server" hint={HINTS.environmentToken}>
              {(control) => <input {...control} type="password" autocomplete="off" />}
            </Field>
          </div>
        </div>
      </details>
      <ProblemText text={problem()} />
      <div class="new-session-submit">
        <button type="submit" class="button button-primary" disabled={isSending()}>
          {isSending() ? "Starting…" : "Start"}
        </button>
        <button
          type="button"
          class="button"
          onClick={() => {
            setForm(EMPTY_FORM);
            setErrors({});
            stored.write(undefined);
          }}
        >
          Clear
        </button>
      </div>
    </form>
  );
}

const HINTS = {
  cwd: "The whole path, inside the folders that the daemon may use.",
  budget: "Tokens of the whole session, such as 200k. An overrun interrupts the turn.",
  deadline: "Such as 30m or 2h, from now.",
  environmentUrl: "Runs the commands elsewhere. The folder is one of that machine.",
  environmentToken: "Not kept in this browser.",
} as const;

function Choices(props: {
  readonly legend: string;
  readonly field: FieldName;
  readonly choices: readonly { readonly value: string; readonly label: string; readonly detail: string }[];
  readonly value: string;
  readonly onChange: (field: FieldName, value: string) => void;
}): JSX.Element {
  return (
    <fieldset class="choices">
      <legend>{props.legend}</legend>
      <For each={props.choices}>
        {({ value, label, detail }) => (
          <label>
            <input
              type="radio"
              name={props.field}
              value={value}
              checked={props.value === value}
              onChange={() => props.onChange(props.field, value)}
            />
            <span>
              <strong>{label}</strong> <span class="muted">{detail}</span>
            </span>
          </label>
        )}
      </For>
    </fieldset>
  );
}
