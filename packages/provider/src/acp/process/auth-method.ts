import type { InitializeResponse } from "@agentclientprotocol/sdk";
import { z } from "zod";

/** A login method that the agent offers. */
export interface AcpAuthMethod {
  /** For `authMethod` of the provider's options. */
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** `agent`: the agent logs in itself; `terminal`: with a program in a terminal; `env_var`: with environment variables. */
  readonly type: "agent" | "terminal" | "env_var" | (string & {});
  /** The variables, for `env_var`. */
  readonly variables?: readonly string[];
}

const method = z.looseObject({
  id: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  type: z.string().nullish(),
  vars: z.array(z.looseObject({ name: z.string() })).nullish(),
});

/** The agent's login methods. Entries without an id and a name can't be chosen and are omitted. */
export function authMethodsOf({ authMethods }: InitializeResponse): readonly AcpAuthMethod[] {
  return (authMethods ?? []).flatMap((entry) => {
    const { data } = method.safeParse(entry);
    if (!data) return [];
    const { id, name, description, type, vars } = data;
    return {
      id,
      name,
      ...(typeof description === "string" && { description }),
      type: type ?? "agent",
      ...(vars && { variables: vars.map((variable) => variable.name) }),
    };
  });
}
