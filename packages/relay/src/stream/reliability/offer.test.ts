import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addOffer, takeOffer } from "./offer.ts";

describe("the offer", () => {
  it("is added to a JSON object and removed without a trace", () => {
    const objects = fc
      .dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 })
      .map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(objects, (text) => {
        const offered = addOffer(text) as Buffer;
        expect(JSON.parse(offered.toString())).toMatchObject({ codexkitRelay: { version: 1 } });
        expect(takeOffer(offered)).toEqual({ hasOffer: true, message: Buffer.from(text) });
      }),
    );
  });

  it.each(["{}", "[]", "", '"text"', " {}"])("can't be added to %j", (text) => {
    expect(addOffer(text)).toBeUndefined();
  });

  it.each([
    '{"id":1}',
    '{"codexkitRelay":{"version":0},"id":1}',
    '{"codexkitRelay":{"version":"1"},"id":1}',
    '{"codexkitRelay":{"version":1}}',
    '{"codexkitRelay":{"version":1',
    '{"codexkitRelay":7,"id":1}',
    '{"codexkitRelay":',
    '{"id":1,"codexkitRelay":{"version":1}}',
  ])("is not found in %s, which stays as it is", (text) => {
    expect(takeOffer(Buffer.from(text))).toEqual({ hasOffer: false, message: Buffer.from(text) });
  });

  it("of a later version is accepted as one of this version", () => {
    const message = Buffer.from('{"codexkitRelay":{"version":2,"more":[1]},"id":1}');
    expect(takeOffer(message)).toEqual({ hasOffer: true, message: Buffer.from('{"id":1}') });
  });
});
