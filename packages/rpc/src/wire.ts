/**
 * The messages of one end, as types. A method table maps a method to `{ params, result }`; a notification table maps
 * a method to its params.
 */
export interface Wire {
  /** Requests that this end sends. */
  calls: object;
  /** Notifications that this end sends. */
  sends: object;
  /** Requests that this end answers. */
  answers: object;
  /** Notifications that this end receives. */
  receives: object;
}

/** A wire without a contract: any method, unknown values. */
export interface AnyWire extends Wire {
  calls: Record<string, { params: unknown; result: unknown }>;
  sends: Record<string, unknown>;
  answers: Record<string, { params: unknown; result: unknown }>;
  receives: Record<string, unknown>;
}

export type MethodOf<Table> = keyof Table & string;
// Indexed access instead of `infer`: the compiler looks through it when it types a handler's return value.
export type ParamsOf<Table, Method extends keyof Table> = Table[Method]["params" & keyof Table[Method]];
export type ResultOf<Table, Method extends keyof Table> = Table[Method]["result" & keyof Table[Method]];

/** Params may be omitted if `undefined` is one of their values. */
export type ParamsArgument<Params, Rest extends unknown[] = []> = undefined extends Params
  ? [params?: Params, ...rest: Rest]
  : [params: Params, ...rest: Rest];
