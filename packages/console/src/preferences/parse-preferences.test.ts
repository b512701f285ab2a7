import fc from "fast-check";
import { expect, it } from "vitest";
import { DEFAULT_PREFERENCES, parsePreferences } from "./parse-preferences.ts";

it.each([null, "", "nonsense", "null", "[]", '{"theme":"pink","keys":{"a":1},"singleKeys":"no"}'])(
  "uses defaults for %j",
  (text) => {
    expect(parsePreferences(text)).toEqual(DEFAULT_PREFERENCES);
  },
);

it("reads what it has written", () => {
  fc.assert(
    fc.property(
      fc.record({
        theme: fc.constantFrom("system" as const, "light" as const, "dark" as const),
        density: fc.constantFrom("comfortable" as const, "compact" as const),
        singleKeys: fc.boolean(),
        keys: fc.dictionary(fc.stringMatching(/^[a-z.]{1,9}$/), fc.string({ maxLength: 5 })),
        notifications: fc.boolean(),
        sound: fc.boolean(),
      }),
      (preferences) => {
        const copy = parsePreferences(JSON.stringify(preferences));
        expect({ ...copy, keys: { ...copy.keys } }).toEqual({
          ...preferences,
          keys: { ...preferences.keys },
        });
      },
    ),
  );
});
