import type { Check } from "./harness/check.ts";
import { CALL_CHECKS } from "./checks/call-checks.ts";
import { END_CHECKS } from "./checks/end-checks.ts";
import { EVERY_STREAM_CHECKS } from "./checks/every-stream-checks.ts";
import { FIELD_CHECKS } from "./checks/field-checks.ts";
import { INJECTION_CHECKS } from "./checks/injection-checks.ts";
import { LIMIT_CHECKS } from "./checks/limit-checks.ts";
import { PROCESS_CHECKS } from "./checks/process-checks.ts";
import { RECEIPT_CHECKS } from "./checks/receipt-checks.ts";
import { RESUME_CHECKS } from "./checks/resume-checks.ts";
import { STREAM_CHECKS } from "./checks/stream-checks.ts";
import { TRANSFER_CHECKS } from "./checks/transfer-checks.ts";
import { WORK_CHECKS } from "./checks/work-checks.ts";

/** All checks, in the order in which they run. */
export const ALL_CHECKS: readonly Check[] = [
  ...STREAM_CHECKS,
  ...END_CHECKS,
  ...WORK_CHECKS,
  ...CALL_CHECKS,
  ...INJECTION_CHECKS,
  ...RESUME_CHECKS,
  ...TRANSFER_CHECKS,
  ...RECEIPT_CHECKS,
  ...LIMIT_CHECKS,
  ...PROCESS_CHECKS,
  ...FIELD_CHECKS,
  // Last, because they judge the streams that the others have read.
  ...EVERY_STREAM_CHECKS,
];
