import { z } from "zod";

export const model = z
  .object({
    id: z.string(),
    model: z.string().meta({ description: "Pass it as the `model` of a session." }),
    name: z.string(),
    description: z.string(),
    isDefault: z.boolean(),
    hidden: z.boolean(),
    efforts: z.array(z.string()).readonly(),
    defaultEffort: z.string(),
    inputs: z.array(z.string()).readonly(),
  })
  .meta({ id: "Model" });

export const account = z
  .object({
    account: z.looseObject({ type: z.string() }).nullable().meta({ description: "Null if not logged in." }),
    requiresOpenaiAuth: z.boolean(),
  })
  .meta({ id: "Account" });

const quotaWindow = z
  .object({
    usedPercent: z.number(),
    minutes: z
      .int()
      .nullable()
      .meta({ description: "Length of the window. Null if Codex does not report it." }),
    resetsAt: z.int().nullable().meta({ description: "Milliseconds since the epoch." }),
  })
  .meta({ id: "QuotaWindow" });

export const quota = z
  .object({
    id: z.string().nullable(),
    name: z.string().nullable(),
    windows: z.array(quotaWindow).readonly(),
  })
  .meta({ id: "Quota", description: "A limit of the account, such as that of a model." });
export type Quota = z.infer<typeof quota>;

export const credentialStatus = z
  .object({
    kind: z.enum(["apiKey", "chatgpt", "unusable", "none"]),
    source: z.enum(["options", "CODEX_API_KEY", "OPENAI_API_KEY", "auth.json", "codexHome"]).nullable(),
    reason: z.string().optional(),
    email: z.string().optional(),
    expiresAt: z.int().optional(),
  })
  .meta({ id: "CredentialStatus", description: "Source of the credentials. Never contains a secret." });
