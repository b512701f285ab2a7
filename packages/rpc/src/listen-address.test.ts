import { expect, it } from "vitest";
import { parseListenAddress } from "./listen-address.ts";

it.each([
  ["4400", { host: "127.0.0.1", port: 4400 }],
  [":4400", { host: "127.0.0.1", port: 4400 }],
  ["relay.example:80", { host: "relay.example", port: 80 }],
  ["[::1]:0", { host: "::1", port: 0 }],
])("%s is an address", (text, address) => {
  expect(parseListenAddress(text)).toEqual(address);
});

it.each(["", "x", "1.2.3.4", "h:70000", "::1", "[::1]", "a b:80", "-1", "http://x:80"])(
  "%j is not an address",
  (text) => {
    expect(parseListenAddress(text)).toBeUndefined();
  },
);
