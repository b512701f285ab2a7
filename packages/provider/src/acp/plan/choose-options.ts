import type { NewSessionResponse, SessionConfigOption } from "@agentclientprotocol/sdk";
import type { SpecField } from "../../contract/agent-spec.ts";
import type { IgnoredField } from "../../contract/ignored-field.ts";
import type { SessionPlan } from "./plan-session.ts";

/** A setting to apply to a new session. */
export type Choice =
  | { readonly method: "mode"; readonly modeId: string }
  | { readonly method: "option"; readonly configId: string; readonly value: string | boolean };

type Offer = Pick<NewSessionResponse, "modes" | "configOptions">;

/** Matches the choices of a plan with the options of the session. Missing ones are ignored, and the reason lists what is available. */
export function chooseOptions(
  { model, effort, mode, options = {} }: SessionPlan["choices"],
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

function chooseMode(wanted: string, offer: Offer): Choice | IgnoredField {
  const modes = offer.modes?.availableModes ?? [];
  const mode = modes.find(({ id, name }) => id === wanted || name === wanted);
  if (mode) return { method: "mode", modeId: mode.id };
  if (modes.length === 0) return chooseByCategory("providerConfig", "mode", wanted, offer);
  return missing(
    "providerConfig",
    `the agent has no mode "${wanted}"`,
    modes.map(({ id }) => id),
  );
}

function chooseByCategory(
  field: SpecField,
  category: string,
  wanted: string,
  offer: Offer,
): Choice | IgnoredField {
  const option = offer.configOptions?.find((one) => one.category === category);
  if (!option) return { field, reason: `the agent has no option for ${category}` };
  return chooseValue(field, option, wanted);
}

function chooseById(id: string, wanted: string | boolean, offer: Offer): Choice | IgnoredField {
  const options = offer.configOptions ?? [];
  const option = options.find((one) => one.id === id);
  if (option) return chooseValue("providerConfig", option, wanted);
  return missing(
    "providerConfig",
    `the agent has no option "${id}"`,
    options.map((one) => one.id),
  );
}

function chooseValue(
  field: SpecField,
  option: SessionConfigOption,
  wanted: string | boolean,
): Choice | IgnoredField {
  if (option.type === "boolean") {
    return typeof wanted === "boolean"
      ? { method: "option", configId: option.id, value: wanted }
      : { field, reason: `the agent's option "${option.id}" is true or false, not "${wanted}"` };
  }
  const values = option.options.flatMap((one) => ("options" in one ? one.options : [one]));
  const chosen = values.find(({ value, name }) => value === wanted || name === wanted);
  if (chosen) return { method: "option", configId: option.id, value: chosen.value };
  return missing(
    field,
    `the agent's option "${option.id}" can't be "${wanted}"`,
    values.map(({ value }) => value),
  );
}

function missing(field: SpecField, what: string, available: readonly string[]): IgnoredField {
  return { field, reason: `${what}; available: ${available.join(", ") || "none"}` };
}
