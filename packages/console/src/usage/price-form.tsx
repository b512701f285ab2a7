import { createSignal, For, type JSX, Show } from "solid-js";
import { changePreferences, preferences } from "../settings/preferences.ts";
import { FormField } from "../ui/form-field.tsx";
import { ProblemText } from "../ui/index.ts";

const FIELDS = [
  { name: "input", label: "Input" },
  { name: "cachedInput", label: "Cached input" },
  { name: "output", label: "Output" },
] as const;

/** A form for prices, because Codex reports none. */
export function PriceForm(): JSX.Element {
  const [problem, setProblem] = createSignal<string>();
  const save = (form: HTMLFormElement): void => {
    const [input, cachedInput, output] = FIELDS.map(({ name }) => {
      const text = form.querySelector<HTMLInputElement>(`[name="${name}"]`)?.value.trim() ?? "";
      return text === "" ? Number.NaN : Number(text);
    });
    const isPrice = (price: number | undefined): price is number => price !== undefined && price >= 0;
    if (!isPrice(input) || !isPrice(cachedInput) || !isPrice(output)) {
      setProblem("Enter all three prices as numbers, such as 1.25.");
      return;
    }
    setProblem(undefined);
    changePreferences({ prices: { input, cachedInput, output } });
  };
  return (
    <form
      class="price-form"
      onSubmit={(event) => {
        event.preventDefault();
        save(event.currentTarget);
      }}
    >
      <p class="muted">
        Codex reports tokens and no prices. Enter those of your model, in dollars per million tokens, to see
        costs. They stay in this browser.
      </p>
      <div class="price-fields">
        <For each={FIELDS}>
          {({ name, label }) => (
            <FormField id={`price-${name}`} label={label} value={String(preferences().prices?.[name] ?? "")}>
              {(control) => <input {...control} name={name} inputmode="decimal" />}
            </FormField>
          )}
        </For>
        <button type="submit" class="button">
          Save
        </button>
        <Show when={preferences().prices}>
          <button type="reset" class="button" onClick={() => changePreferences({ prices: null })}>
            Remove
          </button>
        </Show>
      </div>
      <ProblemText text={problem()} />
    </form>
  );
}
