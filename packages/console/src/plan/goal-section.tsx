import { DaemonClientError } from "@codexkit/daemon/client";
import { createSignal, createUniqueId, Show } from "solid-js";
import { type SessionView, useDaemon } from "../feed/index.ts";
import { FormField } from "../ui/form-field.tsx";
import { formatCount, ProblemText } from "../ui/index.ts";

/** The goal that Codex works towards across turns, and a form to change it. */
export function GoalSection(props: { readonly view: SessionView }) {
  const { client, can } = useDaemon();
  const [isEditing, setIsEditing] = createSignal(false);
  const [objective, setObjective] = createSignal("");
  const [budget, setBudget] = createSignal("");
  const [budgetError, setBudgetError] = createSignal<string>();
  const [problem, setProblem] = createSignal<string>();
  const [isSending, setIsSending] = createSignal(false);
  const id = createUniqueId();
  const goal = () => props.view.session()?.goal ?? null;

  function edit(): void {
    setObjective(goal()?.objective ?? "");
    setBudget(String(goal()?.tokenBudget ?? ""));
    setBudgetError(undefined);
    setProblem(undefined);
    setIsEditing(true);
  }

  async function save(remove: boolean): Promise<void> {
    const tokens = Number(budget());
    if (!remove && budget().trim() !== "" && (!Number.isInteger(tokens) || tokens <= 0)) {
      setBudgetError("The budget is a whole number of tokens.");
      return;
    }
    const wanted = remove
      ? null
      : { objective: objective().trim(), ...(budget().trim() !== "" && { tokenBudget: tokens }) };
    setIsSending(true);
    try {
      const command = await client.request("PUT /sessions/{sessionId}/goal", {
        params: { sessionId: props.view.id },
        body: { goal: wanted },
        query: { wait: 10_000 },
      });
      if (command.problem) throw new Error(command.problem.detail);
      setIsEditing(false);
    } catch (error) {
      setProblem(DaemonClientError.is(error) ? (error.problem?.detail ?? error.message) : String(error));
    } finally {
      setIsSending(false);
    }
  }

  return (
    <section class="goal" aria-labelledby="goal-title">
      <h3 id="goal-title">Goal</h3>
      <Show
        when={isEditing()}
        fallback={
          <>
            <Show when={goal()} fallback={<p class="muted">This session has no goal.</p>}>
              {(known) => (
                <p class="goal-text">
                  {known().objective}
                  <Show when={known().tokenBudget}>
                    {(tokens) => <span class="muted"> (within {formatCount(tokens())} tokens)</span>}
                  </Show>
                </p>
              )}
            </Show>
            <Show when={can("write")}>
              <button type="button" class="button" onClick={edit}>
                {goal() ? "Change the goal" : "Set a goal"}
              </button>
            </Show>
          </>
        }
      >
        <form
          class="goal-form"
          onSubmit={(event) => {
            event.preventDefault();
            void save(false);
          }}
        >
          <FormField
            id={`${id}-objective`}
            label="Objective"
            value={objective()}
            onInput={(value) => setObjective(value)}
          >
            {(control) => <textarea {...control} rows="3" required maxlength="10000" />}
          </FormField>
          <FormField
            id={`${id}-budget`}
            label="Token budget"
            isOptional
            error={budgetError()}
            value={budget()}
            onInput={(value) => {
              setBudget(value);
              setBudgetError(undefined);
            }}
          >
            {(control) => <input {...control} inputmode="numeric" />}
          </FormField>
          <ProblemText text={problem()} />
          <div class="goal-buttons">
            <button type="button" class="button button-quiet" onClick={() => setIsEditing(false)}>
              Back
            </button>
            <Show when={goal()}>
              <button
                type="button"
                class="button button-danger"
                disabled={isSending()}
                onClick={() => void save(true)}
              >
                Remove the goal
              </button>
            </Show>
            <button type="submit" class="button button-primary" disabled={isSending()}>
              Save
            </button>
          </div>
        </form>
      </Show>
    </section>
  );
}
