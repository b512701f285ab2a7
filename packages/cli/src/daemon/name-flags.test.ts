import { expect, test } from "vitest";
import { nameFlags } from "./name-flags.ts";

test.each([
  [
    'Another daemon with the name "a" uses this store. Stop it, or choose another nodeName.',
    'Another daemon with the name "a" uses this store. Stop it, or choose another --node-name.',
  ],
  [
    'Listening on 0.0.0.0 without tokens would let anyone run commands. Use auth: "tokens", or 127.0.0.1.',
    "Listening on 0.0.0.0 without tokens would let anyone run commands. Omit --no-auth, or listen on 127.0.0.1.",
  ],
  ["options.advertiseUrl: Expected an http or https URL.", "--advertise: Expected an http or https URL."],
  ["options.sharedRoots.a b: Expected a label.", "--shared-root a b: Expected a label."],
  ["options.allowedHosts.0: Expected a host name.", "--allow-host: Expected a host name."],
  ['The root "/x" is not a folder, or does not exist.', 'The root "/x" is not a folder, or does not exist.'],
])("%j names the flag", (message, expected) => {
  expect(nameFlags(message)).toBe(expected);
});
