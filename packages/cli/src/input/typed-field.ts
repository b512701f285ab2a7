import { checkField, type FormChoice, type FormField, type FormValue } from "@codexkit/daemon/client";

/** Returns the choices of a field of which one is picked. Undefined if the answer is typed. */
export function choicesOf(field: FormField): readonly FormChoice[] | undefined {
  if (field.type === "choice") return field.choices;
  if (field.type !== "checkbox") return undefined;
  return [
    { value: "true", label: "Yes" },
    { value: "false", label: "No" },
  ];
}

/** Converts a chosen or typed text to the value of a field. */
export function readTyped({ type }: FormField, text: string): FormValue {
  if (type === "checkbox") return text === "true";
  if (type !== "choices") return text;
  return text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

/** Converts the default of a field to a text that the user can edit or choose. Undefined if there is none. */
export function initialText({ initial }: FormField): string | undefined {
  if (typeof initial === "object") return initial.length === 0 ? undefined : initial.join(", ");
  return initial === "" ? undefined : String(initial);
}

/** Validates a typed text. Returns the reason if it is invalid. */
export function checkTyped(field: FormField, text: string): string | undefined {
  const value = readTyped(field, text);
  if (field.type === "choices") {
    const allowed = field.choices.map((choice) => choice.value);
    const unknown = (value as readonly string[]).find((word) => !allowed.includes(word));
    if (unknown !== undefined) return `Unknown choice "${unknown}". Choose from ${allowed.join(", ")}.`;
  }
  return checkField(field, value);
}
