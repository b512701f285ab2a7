// Checks of options, for packages with options of their own. Loads no other part of the SDK.
import "../require-node.ts";

export { findNearestName, type OptionKeys, rejectUnknownOptions } from "./reject-unknown-options.ts";
