// Options that several packages share, and checks of options. Loads no other part of the SDK.
import "../require-node.ts";

export { findNearestName, type OptionKeys, rejectUnknownOptions } from "./reject-unknown-options.ts";
export { createPricer, type ModelPrice, type ModelUsage, type Pricer, type Prices } from "./prices.ts";
