/**
 * How often a secret may be escaped inside a text. The arguments and the output of a call are JSON inside JSON, and may
 * contain JSON themselves.
 */
const LEVELS = 3;

/** Returns the forms in which a secret occurs in a text: as it is, and as a part of JSON, also inside other JSON. */
export function escapedForms(secret: string): readonly string[] {
  const forms = [secret];
  for (let level = 0; level < LEVELS; level += 1) {
    const form = JSON.stringify(forms.at(-1)).slice(1, -1);
    // Further levels are the same too.
    if (form === forms.at(-1)) break;
    forms.push(form);
  }
  return forms;
}
