import { z } from "zod";

/** As an exec-server accepts it: see its `EpochClaim`. */
export const epochClaim = z.strictObject({
  subject: z
    .string()
    .refine((text) => text !== "" && Buffer.byteLength(text) <= 256, "Expected 1 to 256 bytes of text."),
  epoch: z.int().nonnegative(),
});
