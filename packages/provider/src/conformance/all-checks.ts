import type { Check } from "./check.ts";
import { CALL_CHECKS } from "./checks/call-checks.ts";
import { END_CHECKS } from "./checks/end-checks.ts";
import { FIELD_CHECKS } from "./checks/field-checks.ts";
import { INJECTION_CHECKS } from "./checks/injection-checks.ts";
import { RECEIPT_CHECKS } from "./checks/receipt-checks.ts";
import { RESUME_CHECKS } from "./checks/resume-checks.ts";
import { STREAM_CHECKS } from "./checks/stream-checks.ts";

/** Everything that is looked for, in order. */
export const ALL_CHECKS: readonly Check[] = [
  ...STREAM_CHECKS,
  ...END_CHECKS,
  ...CALL_CHECKS,
  ...INJECTION_CHECKS,
  ...RESUME_CHECKS,
  ...RECEIPT_CHECKS,
  ...FIELD_CHECKS,
];
