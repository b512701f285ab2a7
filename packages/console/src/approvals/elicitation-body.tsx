import {
  checkField,
  type FormField,
  type FormValue,
  type InboxRequest,
  readFormFields,
} from "@codexkit/daemon/client";
import { For, Match, Show, Switch } from "solid-js";
import type { Answering } from "./answering.ts";
import { describedBy, FieldNotes, FormField as LabelledField } from "../ui/form-field.tsx";
import { visibleText } from "../ui/index.ts";
import { VisibleText } from "../ui/visible-text-view.tsx";

export type ElicitationRequest = Extract<InboxRequest, { kind: "elicitation" }>;

/** The entered value of a field, or its default. */
export function valueOf(answering: Answering, field: FormField): FormValue {
  return answering.draft().form[field.name] ?? field.initial;
}

export function ElicitationBody(props: {
  readonly request: ElicitationRequest;
  readonly approvalId: string;
  readonly answering: Answering;
  readonly isReadOnly: boolean;
}) {
  const fields = () => readFormFields(props.request.schema);
  return (
    <>
      <p class="approval-message">
        <VisibleText text={props.request.message} />
      </p>
      <Switch>
        <Match when={props.request.url}>{(url) => <UrlRequest url={url()} />}</Match>
        <Match when={fields()}>
          {(known) => (
            <fieldset class="form-fields" disabled={props.isReadOnly}>
              <legend class="visually-hidden">Form</legend>
              <For each={known()}>
                {(field) => (
                  <FieldInput
                    field={field}
                    id={`${props.approvalId}-${field.name}`}
                    answering={props.answering}
                  />
                )}
              </For>
            </fieldset>
          )}
        </Match>
        <Match when={props.request.schema !== null && props.request.schema !== undefined}>
          <p>The answer must fit this schema:</p>
          <pre class="approval-json" tabindex="0" role="group" aria-label="Schema">
            <VisibleText text={JSON.stringify(props.request.schema, undefined, 2)} />
          </pre>
          <LabelledField
            id={`${props.approvalId}-json`}
            label="The answer as JSON"
            value={props.answering.draft().json}
            onInput={(json) => props.answering.update({ json })}
          >
            {(control) => <textarea {...control} rows="4" spellcheck={false} disabled={props.isReadOnly} />}
          </LabelledField>
        </Match>
      </Switch>
    </>
  );
}

/** Whether a URL is one of a page that a person can visit. */
export function isWebPage(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** The complete URL, with its actual host highlighted. */
function UrlRequest(props: { readonly url: string }) {
  const parsed = () => (URL.canParse(props.url) ? new URL(props.url) : null);
  const isWeb = () => isWebPage(props.url);
  return (
    <div class="approval-url">
      <Show
        when={isWeb()}
        fallback={
          <p class="approval-alert">
            This is not the address of a web page
            <Show when={parsed()}>
              {(url) => (
                <>
                  : its scheme is <strong>{url().protocol}</strong>
                </>
              )}
            </Show>
          </p>
        }
      >
        <p>
          Visit a page of <strong>{parsed()?.host}</strong>
        </p>
      </Show>
      <Show
        when={isWeb()}
        fallback={
          <code>
            <VisibleText text={props.url} />
          </code>
        }
      >
        <a href={props.url} target="_blank" rel="noopener noreferrer">
          <VisibleText text={props.url} />
        </a>
      </Show>
    </div>
  );
}

function FieldInput(props: {
  readonly field: FormField;
  readonly id: string;
  readonly answering: Answering;
}) {
  const value = () => valueOf(props.answering, props.field);
  // Errors are shown only for changed fields, so that an untouched form has none.
  const problem = () =>
    props.field.name in props.answering.draft().form ? checkField(props.field, value()) : undefined;
  // A field without a description has none, even if the schema has an empty one.
  const notes = () => ({
    id: props.id,
    hint: props.field.description || undefined,
    error: problem(),
    render: (text: string) => <VisibleText text={text} />,
  });
  const isOptional = () => !props.field.isRequired;

  function setValue(entered: FormValue): void {
    props.answering.update({ form: { ...props.answering.draft().form, [props.field.name]: entered } });
  }

  return (
    <Switch>
      <Match when={props.field.type === "checkbox"}>
        <div class="field">
          <label class="check">
            <input
              type="checkbox"
              checked={value() === true}
              aria-describedby={describedBy(notes())}
              onChange={(event) => setValue(event.currentTarget.checked)}
            />
            <span>
              <VisibleText text={props.field.label} />
            </span>
          </label>
          <FieldNotes {...notes()} />
        </div>
      </Match>
      <Match when={props.field.type === "choices" && props.field}>
        {(field) => (
          <fieldset class="field" aria-describedby={describedBy(notes())}>
            <legend>
              <VisibleText text={field().label} />
              <Show when={isOptional()}>
                <span class="muted"> (optional)</span>
              </Show>
            </legend>
            <For each={field().choices}>
              {(choice) => (
                <label class="check">
                  <input
                    type="checkbox"
                    checked={(value() as readonly string[]).includes(choice.value)}
                    onChange={(event) => {
                      const others = (value() as readonly string[]).filter((other) => other !== choice.value);
                      setValue(event.currentTarget.checked ? [...others, choice.value] : others);
                    }}
                  />
                  <span>
                    <VisibleText text={choice.label} />
                  </span>
                </label>
              )}
            </For>
            <FieldNotes {...notes()} />
          </fieldset>
        )}
      </Match>
      <Match when={props.field.type === "choice" && props.field}>
        {(field) => (
          <LabelledField
            {...notes()}
            label={field().label}
            isOptional={isOptional()}
            value={value() as string}
            onInput={setValue}
          >
            {(control) => (
              <select {...control} required={field().isRequired}>
                <option value="" selected={value() === ""}>
                  {field().isRequired ? "Choose…" : "No answer"}
                </option>
                <For each={field().choices}>
                  {(choice) => (
                    <option value={choice.value} selected={value() === choice.value}>
                      {visibleText(choice.label)}
                    </option>
                  )}
                </For>
              </select>
            )}
          </LabelledField>
        )}
      </Match>
      <Match when={props.field.type === "text" || props.field.type === "number"}>
        <LabelledField
          {...notes()}
          label={props.field.label}
          isOptional={isOptional()}
          value={value() as string}
          onInput={setValue}
        >
          {(control) => (
            <input
              {...control}
              type={inputType(props.field)}
              inputmode={props.field.type === "number" ? "decimal" : undefined}
              autocomplete="off"
              required={props.field.isRequired}
            />
          )}
        </LabelledField>
      </Match>
    </Switch>
  );
}

/** Dates use the browser's picker. Numbers use a text field, so that invalid input is kept. */
function inputType(field: FormField): string {
  if (field.type !== "text") return "text";
  switch (field.format) {
    case "email":
      return "email";
    case "uri":
      return "url";
    case "date":
      return "date";
    default:
      return "text";
  }
}
