import type { NewSessionResponse, SessionConfigOption } from "@agentclientprotocol/sdk";
import type { SpecField } from "../../contract/agent-spec.ts";
import type { IgnoredField } from "../../contract/ignored-field.ts";
import type { SessionPlan } from "./plan-session.ts";

/** What a new session has to be told. */
export type Choice =
  | { readonly method: "mode"; readonly modeId: string }
  | { readonly method: "option"; readonly configId: string; readonly value: string | boolean };

type Offer = Pick<NewSessionResponse, "modes" | "configOptions">;

/** Finds the wishes of a plan among what the session offers. What is not there is ignored, with what there is. */
export function chooseOptions(
  { model, effort, mode, options = {} }: SessionPlan["wishes"],
  offer: Offer,
): { readonly choices: readonly Choice[]; readonly ignored: readonly IgnoredField[] } {
  const found = [
    ...(mode === undefined ? [] : [chooseMode(mode, offer)]),
    ...(model === undefined ? [] : [chooseByCategory("model", "model", model, offer)]),
    ...(effort === undefined ? [] : [chooseByCategory("effort", "thought_level", effort, offer)]),
    ...Object.entries(options).map(([id, value]) => chooseById(id, value, offer)),
  ];
  return {
    choices: found.filter((one) => "method" in one),
    ignored: found.filter((one) => "field" in one),
  };
}

function chooseMode(wish: string, offer: Offer): Choice | IgnoredField {
  const modes = offer.modes?.availableModes ?? [];
  const mode = modes.find(({ id, name }) => id === wish || name === wish);
  if (mode) return { method: "mode", modeId: mode.id };
  if (modes.length === 0) return chooseByCategory("providerConfig", "mode", wish, offer);
  return missing(
    "providerConfig",
    `the agent has no mode "${wish}"`,
    modes.map(({ id }) => id),
  );
}

function chooseByCategory(
  field: SpecField,
  category: string,
  wish: string,
  offer: Offer,
): Choice | IgnoredField {
  const option = offer.configOptions?.find((one) => one.category === category);
  if (!option) return { field, reason: `the agent offers no choice of ${category}` };
  return chooseValue(field, option, wish);
}

function chooseById(id: string, wish: string | boolean, offer: Offer): Choice | IgnoredField {
  const options = offer.configOptions ?? [];
  const option = options.find((one) => one.id === id);
  if (option) return chooseValue("providerConfig", option, wish);
  return missing(
    "providerConfig",
    `the agent has no option "${id}"`,
    options.map((one) => one.id),
  );
}

function chooseValue(
  field: SpecField,
  option: SessionConfigOption,
  wish: string | boolean,
): Choice | IgnoredField {
  if (option.type === "boolean") {
    return typeof wish === "boolean"
      ? { method: "option", configId: option.id, value: wish }
      : { field, reason: `the agent's option "${option.id}" is true or false, not "${wish}"` };
  }
  const values = option.options.flatMap((one) => ("options" in one ? one.options : [one]));
  const chosen = values.find(({ value, name }) => value === wish || name === wish);
  if (chosen) return { method: "option", configId: option.id, value: chosen.value };
  return missing(
    field,
    `the agent's option "${option.id}" can't be "${wish}"`,
    values.map(({ value }) => value),
  );
}

function missing(field: SpecField, what: string, there: readonly string[]): IgnoredField {
  return { field, reason: `${what}; there ${there.length > 0 ? `are: ${there.join(", ")}` : "are none"}` };
}
