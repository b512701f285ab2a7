// Options and schemas that several packages read. Loads no other part of the SDK.
import "../require-node.ts";

export { findNearestName, type OptionKeys, rejectUnknownOptions } from "./reject-unknown-options.ts";
export { resolveRef } from "../schema/json-schema.ts";
export { createPricer, type ModelPrice, type ModelUsage, type Pricer, type Prices } from "./prices.ts";
