import { z } from "zod";

/** Has the same format as the `EpochClaim` of an exec-server. */
export const epochClaim = z.strictObject({
  subject: z
    .string()
    .refine((text) => text !== "" && Buffer.byteLength(text) <= 256, "Expected 1 to 256 bytes of text."),
  epoch: z.int().nonnegative(),
});
