import { describe, expect, it } from "vitest";
import { KeyRegistry } from "./key-registry.ts";
import { formatKeys, keysOfPress, matchesKey, parseKeys } from "./parse-keys.ts";

function press(key: string, changes: Partial<KeyboardEvent> = {}): KeyboardEvent {
  return {
    key,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: /^[A-Z]$/.test(key),
    timeStamp: 0,
    defaultPrevented: false,
    preventDefault: () => {},
    ...changes,
  } as KeyboardEvent;
}

function createRegistry(...keys: string[]) {
  const registry = new KeyRegistry();
  const ran: string[] = [];
  const bindings = keys.map((name) => ({ id: name, keys: name, label: name, run: () => ran.push(name) }));
  registry.add({ scope: "everywhere", bindings });
  return {
    registry,
    ran,
    type: (...pressed: KeyboardEvent[]) => {
      for (const event of pressed) registry.handle(event, null);
    },
  };
}

describe("the keys", () => {
  it("run bindings of one key, and distinguish letters with Shift", () => {
    const { ran, type } = createRegistry("j", "Shift+J", "?");
    type(press("j"), press("J"), press("?", { shiftKey: true }));
    expect(ran).toEqual(["j", "Shift+J", "?"]);
  });

  it("run a sequence instead of its second key", () => {
    const { ran, type } = createRegistry("i", "g i");
    type(press("g"), press("i"), press("i"));
    expect(ran).toEqual(["g i", "i"]);
  });

  it("forget the first key of a sequence after a second", () => {
    const { ran, type } = createRegistry("i", "g i");
    type(press("g"), press("i", { timeStamp: 1_500 }));
    expect(ran).toEqual(["i"]);
  });

  it("accept Ctrl or Cmd for $mod, and not a single key", () => {
    const { ran, type } = createRegistry("$mod+k");
    type(press("k"), press("k", { ctrlKey: true }), press("k", { metaKey: true }));
    expect(ran).toEqual(["$mod+k", "$mod+k"]);
  });

  it("can be changed and disabled", () => {
    const { registry, ran, type } = createRegistry("j", "$mod+k", "x");
    registry.settings = { singleKeys: true, changed: { j: "n", x: "" } };
    type(press("j"), press("n"), press("x"));
    expect(ran).toEqual(["j"]);
    registry.settings = { singleKeys: false, changed: {} };
    type(press("j"), press("k", { ctrlKey: true }));
    expect(ran).toEqual(["j", "$mod+k"]);
  });

  it("pass a key to the next binding if one returns false", () => {
    const registry = new KeyRegistry();
    const ran: string[] = [];
    registry.add({
      scope: "list",
      bindings: [{ id: "a", keys: "a", label: "", run: () => ran.push("page") }],
    });
    registry.add({ scope: "list", bindings: [{ id: "b", keys: "a", label: "", run: () => false }] });
    registry.handle(press("a"), null);
    expect(ran).toEqual(["page"]);
  });
});

it("formats keys for display", () => {
  expect(formatKeys("g i", false)).toEqual(["g", "i"]);
  expect(formatKeys("$mod+k", true)).toEqual(["⌘ K"]);
  expect(formatKeys("$mod+k", false)).toEqual(["Ctrl K"]);
  expect(formatKeys("Shift+A", false)).toEqual(["⇧ A"]);
});

it("parses the plus key", () => {
  const [plus] = parseKeys("+");
  expect(plus && matchesKey(plus, press("+"))).toBe(true);
});

it("accepts any digit of a range", () => {
  const { ran, type } = createRegistry("1-9");
  type(press("0"), press("1"), press("9"));
  expect(ran).toEqual(["1-9", "1-9"]);
});

it.each([
  ["j", press("j")],
  ["Shift+J", press("J")],
  ["?", press("?", { shiftKey: true })],
  ["$mod+k", press("k", { ctrlKey: true })],
  ["$mod+Shift+K", press("K", { metaKey: true })],
  ["Alt+Enter", press("Enter", { altKey: true })],
  ["Shift+F5", press("F5", { shiftKey: true })],
  ["Space", press(" ")],
] as const)("records %s as it is matched", (keys, event) => {
  expect(keysOfPress(event)).toBe(keys);
  const [parsed] = parseKeys(keys);
  expect(parsed && matchesKey(parsed, event)).toBe(true);
});
