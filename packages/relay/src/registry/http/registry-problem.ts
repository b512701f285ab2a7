/** A refused request, with the status and the code that the API documents. */
export class RegistryProblem extends Error {
  override readonly name = "RegistryProblem";
  readonly status: RegistryProblemStatus;
  readonly code: RegistryProblemCode;

  constructor(code: RegistryProblemCode, message: string) {
    super(message);
    this.code = code;
    this.status = STATUS[code];
  }
}

const STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  replaced: 403,
  not_found: 404,
  method_not_allowed: 405,
  environment_offline: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  too_many_executors: 429,
  too_many_connections: 429,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type RegistryProblemCode = keyof typeof STATUS;
export type RegistryProblemStatus = (typeof STATUS)[RegistryProblemCode];

/** The body of every refusal. */
export function problemBody({ code, message }: RegistryProblem): string {
  return JSON.stringify({ error: { code, message } });
}
