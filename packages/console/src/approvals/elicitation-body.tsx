import type { InboxRequest } from "@codexkit/daemon/client";
import { For, Match, Show, Switch } from "solid-js";
import type { Answering } from "./answering.ts";
import { checkField, type FormField, type FormValue, readFormFields } from "./form-fields.ts";
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
          <label class="field">
            <span>The answer as JSON, for this schema:</span>
            <pre class="approval-json" tabindex="0" role="group" aria-label="Schema">
              <VisibleText text={JSON.stringify(props.request.schema, undefined, 2)} />
            </pre>
            <textarea
              class="input"
              rows="4"
              spellcheck={false}
              disabled={props.isReadOnly}
              value={props.answering.draft().json}
              onInput={(event) => props.answering.update({ json: event.currentTarget.value })}
            />
          </label>
        </Match>
      </Switch>
    </>
  );
}

/** The complete URL, with its actual host highlighted. */
function UrlRequest(props: { readonly url: string }) {
  const parsed = () => (URL.canParse(props.url) ? new URL(props.url) : null);
  const isWeb = () => /^https?:$/.test(parsed()?.protocol ?? "");
  return (
    <div class="approval-url">
      <p>
        Visit a page of <strong>{parsed()?.host ?? "an unknown host"}</strong>
      </p>
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
  const described = () => [`${props.id}-description`, `${props.id}-problem`].join(" ");

  function setValue(entered: FormValue): void {
    props.answering.update({ form: { ...props.answering.draft().form, [props.field.name]: entered } });
  }

  return (
    <div class="field">
      <Switch>
        <Match when={props.field.type === "checkbox" && props.field}>
          <label class="check">
            <input
              type="checkbox"
              checked={value() === true}
              aria-describedby={described()}
              onChange={(event) => setValue(event.currentTarget.checked)}
            />
            <span>
              <FieldLabel field={props.field} />
            </span>
          </label>
        </Match>
        <Match when={props.field.type === "choice" && props.field}>
          {(field) => (
            <>
              <label for={props.id}>
                <FieldLabel field={field()} />
              </label>
              <select
                class="input"
                id={props.id}
                required={field().isRequired}
                aria-describedby={described()}
                onChange={(event) => setValue(event.currentTarget.value)}
              >
                <option value="" selected={value() === ""}>
                  {field().isRequired ? "Choose…" : "No answer"}
                </option>
                <For each={field().choices}>
                  {(choice) => (
                    <option value={choice.value} selected={value() === choice.value}>
                      {choice.label}
                    </option>
                  )}
                </For>
              </select>
            </>
          )}
        </Match>
        <Match when={props.field.type === "choices" && props.field}>
          {(field) => (
            <fieldset class="field" aria-describedby={described()}>
              <legend>
                <FieldLabel field={field()} />
              </legend>
              <For each={field().choices}>
                {(choice) => (
                  <label class="check">
                    <input
                      type="checkbox"
                      checked={(value() as readonly string[]).includes(choice.value)}
                      onChange={(event) => {
                        const others = (value() as readonly string[]).filter(
                          (other) => other !== choice.value,
                        );
                        setValue(event.currentTarget.checked ? [...others, choice.value] : others);
                      }}
                    />
                    <span>{choice.label}</span>
                  </label>
                )}
              </For>
            </fieldset>
          )}
        </Match>
        <Match when={props.field.type === "text" || props.field.type === "number"}>
          <label for={props.id}>
            <FieldLabel field={props.field} />
          </label>
          <input
            class="input"
            id={props.id}
            type={inputType(props.field)}
            inputmode={props.field.type === "number" ? "decimal" : undefined}
            autocomplete="off"
            required={props.field.isRequired}
            aria-invalid={problem() !== undefined}
            aria-describedby={described()}
            value={value() as string}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </Match>
      </Switch>
      <span class="muted" id={`${props.id}-description`}>
        <VisibleText text={props.field.description ?? ""} />
      </span>
      <span class="form-error" id={`${props.id}-problem`}>
        {problem()}
      </span>
    </div>
  );
}

function FieldLabel(props: { readonly field: FormField }) {
  return (
    <>
      <VisibleText text={props.field.label} />
      <Show when={!props.field.isRequired && props.field.type !== "checkbox"}>
        <span class="muted"> (optional)</span>
      </Show>
    </>
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
