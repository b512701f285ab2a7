import * as z from "zod";
import { base64, wholeNumber } from "./process-params.ts";

export const httpParams = z.object({
  method: z.string(),
  url: z.string(),
  requestId: z.string(),
  headers: z
    .array(z.object({ name: z.string(), value: z.string(), valueEnvVar: z.string().nullish() }))
    .nullish(),
  bodyBase64: base64.nullish(),
  timeoutMs: wholeNumber.nullish(),
  redirectPolicy: z.enum(["follow", "stop"]).nullish(),
  streamResponse: z.boolean().nullish(),
});

export type HttpParams = z.output<typeof httpParams>;
