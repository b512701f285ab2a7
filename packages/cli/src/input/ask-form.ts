import type { InboxRequest } from "@codexkit/daemon/client";
import type { JsonValue } from "codexkit";
import { revealLine } from "../terminal/sanitize.ts";
import { type FormField, readFields } from "./form-field.ts";
import { askChoice, askText, type PromptStreams } from "./prompts.ts";

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
  const fields = mode.toLowerCase().endsWith("form") ? readFields(schema) : [];
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
  const content: [name: string, value: JsonValue][] = [];
  for (const field of fields) {
    const text = field.choices ? await chooseValue(field, streams) : await typeValue(field, streams);
    if (text === undefined) return undefined;
    if (text !== EMPTY) content.push([field.name, field.parse(text)]);
  }
  return { action, ...(isEmpty ? {} : { content: Object.fromEntries(content) }) };
}

async function chooseValue(field: FormField, streams: PromptStreams): Promise<string | undefined> {
  const { choices = [], initial, isRequired } = field;
  return askChoice(
    {
      message: describeField(field),
      choices: [
        ...choices.map(({ value, label }) => ({ value, label: revealLine(label) })),
        ...(isRequired ? [] : [{ value: EMPTY, label: "No answer" }]),
      ],
      ...(initial === undefined ? {} : { initial }),
    },
    streams,
  );
}

async function typeValue(field: FormField, streams: PromptStreams): Promise<string | undefined> {
  const { initial, isRequired } = field;
  const validate = (value = ""): string | undefined => {
    if (value === "") return isRequired ? "An answer is required." : undefined;
    try {
      field.parse(value);
      return undefined;
    } catch (error) {
      return revealLine((error as Error).message);
    }
  };
  const text = await askText(
    { message: describeField(field), validate, ...(initial === undefined ? {} : { initial }) },
    streams,
  );
  return text === "" ? EMPTY : text;
}

function describeField({ label, description, isRequired }: FormField): string {
  const name = revealLine(label) + (isRequired ? "" : " (optional)");
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
