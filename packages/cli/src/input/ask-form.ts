import {
  type FormChoice,
  type FormField,
  type FormValue,
  type InboxRequest,
  readFormFields,
  toContent,
} from "@codexkit/daemon/client";
import type { JsonValue } from "codexkit";
import { revealLine } from "../terminal/sanitize.ts";
import { askChoice, askText, type PromptStreams } from "./prompts.ts";
import { checkTyped, choicesOf, initialText, readTyped } from "./typed-field.ts";

/** The answer to a form. */
interface FormAnswer {
  readonly action: "accept" | "decline";
  readonly content?: JsonValue;
}

/** The choice that leaves an optional field empty. */
const EMPTY = "\0empty";

/** Asks the user to fill in a form of an MCP server, field by field. Undefined if a prompt was cancelled. */
export async function askForm(
  { schema, mode }: Pick<Extract<InboxRequest, { kind: "elicitation" }>, "schema" | "mode">,
  streams: PromptStreams,
): Promise<FormAnswer | undefined> {
  const fields = mode.toLowerCase().endsWith("form") ? readFormFields(schema) : [];
  const isEmpty = fields?.length === 0;
  const action = await askChoice(
    {
      message: isEmpty ? "Accept?" : "Answer this?",
      choices: [
        { value: "accept", label: isEmpty ? "Yes" : "Fill in the form" },
        { value: "decline", label: isEmpty ? "No" : "Decline" },
      ],
      initial: "decline",
    },
    streams,
  );
  if (action !== "accept") return action === undefined ? undefined : { action: "decline" };
  if (!fields) return askForJson(streams);
  const values = new Map<FormField, FormValue>();
  for (const field of fields) {
    const choices = choicesOf(field);
    const text = choices ? await chooseValue(field, choices, streams) : await typeValue(field, streams);
    if (text === undefined) return undefined;
    if (text !== EMPTY) values.set(field, readTyped(field, text));
  }
  const content = toContent(fields, (field) => values.get(field) ?? "") as JsonValue;
  return { action, ...(isEmpty ? {} : { content }) };
}

async function chooseValue(
  field: FormField,
  choices: readonly FormChoice[],
  streams: PromptStreams,
): Promise<string | undefined> {
  const initial = initialText(field);
  return askChoice(
    {
      message: describeField(field),
      choices: [
        ...choices.map(({ value, label }) => ({ value, label: revealLine(label) })),
        ...(field.isRequired ? [] : [{ value: EMPTY, label: "No answer" }]),
      ],
      ...(initial === undefined ? {} : { initial }),
    },
    streams,
  );
}

async function typeValue(field: FormField, streams: PromptStreams): Promise<string | undefined> {
  const initial = initialText(field);
  const validate = (value = ""): string | undefined => {
    const problem = checkTyped(field, value);
    return problem === undefined ? undefined : revealLine(problem);
  };
  return askText(
    { message: describeField(field), validate, ...(initial === undefined ? {} : { initial }) },
    streams,
  );
}

function describeField(field: FormField): string {
  const name = revealLine(field.label) + (field.isRequired ? "" : " (optional)");
  const description =
    field.type === "choices"
      ? `Any of ${field.choices.map(({ value }) => value).join(", ")}, separated by commas`
      : field.description;
  return description === undefined ? name : `${name}: ${revealLine(description)}`;
}

/** For forms whose fields can't be asked about one by one. */
async function askForJson(streams: PromptStreams): Promise<FormAnswer | undefined> {
  const json = await askText(
    {
      message: "The contents as JSON",
      validate: (value = "") => (isJson(value) ? undefined : "This is not JSON."),
    },
    streams,
  );
  return json === undefined ? undefined : { action: "accept", content: JSON.parse(json) as JsonValue };
}

function isJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
