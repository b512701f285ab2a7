import { z } from "zod";
import { epochClaim } from "../store/epoch-claim.ts";

export const SECURITY_PROFILE = "noise_hybrid_ik_v1";

/** Needs no quoting in paths, tables and log lines, and is never a special path segment such as `..`. */
export const environmentId = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,127}$/, "Expected 1 to 128 letters, digits, dots, hyphens and underscores.");

export const publicKey = z.strictObject({
  suite: z.literal("Noise_hybridIK_X25519+MLKEM768_AESGCM_SHA256"),
  x25519_public_key: base64(32),
  mlkem768_public_key: base64(1184),
});

export type PublicKeyJson = z.infer<typeof publicKey>;

export const registerBody = z.strictObject({
  security_profile: z.literal(SECURITY_PROFILE),
  executor_public_key: publicKey,
});

export const connectBody = z.strictObject({ harness_public_key: publicKey });

export const validateBody = z.strictObject({
  executor_registration_id: z.string().min(1).max(128),
  harness_public_key: publicKey,
  harness_key_authorization: z.string().min(1).max(4096),
});

/** The header that Codex sends with a validation. */
export const streamId = z.string().regex(/^[\x21-\x7e]{1,128}$/, "Expected 1 to 128 visible characters.");

export const newToken = z
  .strictObject({
    name: z.string().trim().min(1).max(128),
    scopes: z.array(z.enum(["execute", "connect", "admin", "metrics"])).min(1),
    /** Missing or null for all environments. */
    environmentId: environmentId.nullish(),
    validForMs: z.int().positive().nullish(),
    claim: epochClaim.nullish(),
  })
  .refine(
    ({ claim, scopes, environmentId: environment }) =>
      !claim || (typeof environment === "string" && scopes.every((scope) => scope === "connect")),
    {
      path: ["claim"],
      message: 'A token with an epoch needs an environment, and "connect" as its only scope.',
    },
  );

export const tokenId = z.uuid("Expected an ID as `registry token list` prints it.");

/** Accepts only the canonical form, because keys are compared as text. */
function base64(length: number) {
  return z.string().refine((text) => {
    const bytes = Buffer.from(text, "base64");
    return bytes.length === length && bytes.toString("base64") === text;
  }, `Expected the base64 form of ${length} bytes.`);
}
