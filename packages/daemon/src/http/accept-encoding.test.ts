import { expect, test } from "vitest";
import { acceptedEncodings } from "./accept-encoding.ts";

test.each([
  [undefined, []],
  ["", []],
  ["identity", []],
  ["gzip", ["gzip"]],
  ["gzip, deflate, br, zstd", ["br", "gzip"]],
  ["gzip;q=1.0, br;q=0.5", ["gzip", "br"]],
  ["br;q=0, gzip", ["gzip"]],
  ["br; q=0.000, *", ["gzip"]],
  ["*", ["br", "gzip"]],
  ["*;q=0", []],
  ["GZIP ; Q=0.3", ["gzip"]],
  ["identity;q=1, gzip;q=0.5", []],
  ["x-gzip", ["gzip"]],
  ["br;q=nonsense", []],
])("%j accepts %j", (header, expected) => {
  expect(acceptedEncodings(header).map(({ encoding }) => encoding)).toEqual(expected);
});
