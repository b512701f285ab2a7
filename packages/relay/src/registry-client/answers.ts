import { z } from "zod";
import { publicKeySchema } from "../noise/identity.ts";
import { MAX_AUTHORIZATION_BYTES } from "../noise/transcript.ts";

export const SECURITY_PROFILE = "noise_hybrid_ik_v1";
export const DIRECT_TRANSPORT = "direct_jsonrpc_v1";

const shared = { environment_id: z.string(), url: z.string().min(1) };
const noise = {
  ...shared,
  security_profile: z.literal(SECURITY_PROFILE),
  executor_registration_id: z.string().min(1),
};

/** Answers of the registry. Unknown members are ignored, because later versions may add some. */
export const registeredSchema = z.object(noise);

export const connectedSchema = z.object({
  ...noise,
  executor_public_key: publicKeySchema,
  harness_key_authorization: z.string().min(1).max(MAX_AUTHORIZATION_BYTES),
});

export const validatedSchema = z.object({
  valid: z.boolean(),
  /** Sent by codexkit's registry for tokens with an epoch. */
  claim: z.object({ sub: z.string().min(1), epoch: z.int().nonnegative() }).nullish(),
});

export const directRegisteredSchema = z.object({
  ...shared,
  transport: z.literal(DIRECT_TRANSPORT),
  registration_id: z.string().min(1),
});

/** The body of an error. Any other body results in an empty code and message. */
export const errorSchema = z
  .object({ error: z.object({ code: z.string().catch(""), message: z.string().catch("") }) })
  .catch({ error: { code: "", message: "" } });
