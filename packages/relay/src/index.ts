// Remote execution: an executor behind a firewall, reached by a harness through a rendezvous that sees only ciphertext.
import "./require-node.ts";

// Errors.
export { RelayError, type RelayErrorCode } from "./errors.ts";
