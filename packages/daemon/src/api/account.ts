import { z } from "zod";

export const model = z
  .object({
    id: z.string(),
    model: z.string().meta({ description: "Pass as `model` of a session." }),
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
    account: z.looseObject({ type: z.string() }).nullable().meta({ description: "Null without a login." }),
    requiresOpenaiAuth: z.boolean(),
  })
  .meta({ id: "Account" });

export const credentialStatus = z
  .object({
    kind: z.enum(["apiKey", "chatgpt", "unusable", "none"]),
    source: z.enum(["options", "CODEX_API_KEY", "OPENAI_API_KEY", "auth.json", "codexHome"]).nullable(),
    reason: z.string().optional(),
    email: z.string().optional(),
    expiresAt: z.int().optional(),
  })
  .meta({ id: "CredentialStatus", description: "Where the credentials come from. Never a secret." });
