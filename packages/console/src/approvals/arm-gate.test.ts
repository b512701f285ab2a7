import { expect, it } from "vitest";
import { ArmGate } from "./arm-gate.ts";

const press = { repeat: false, isComposing: false, isInField: false };

it("ignores keys until the card has not moved for 400 ms", () => {
  const gate = new ArmGate(1000);
  expect(gate.admits(press, 1399)).toBe(false);
  expect(gate.admits(press, 1400)).toBe(true);
  gate.disarm(1500);
  expect(gate.admits(press, 1600)).toBe(false);
  expect(gate.admits(press, 1900)).toBe(true);
});

it.each(["repeat", "isComposing", "isInField"])("ignores keys with %s", (flag) => {
  expect(new ArmGate(0).admits({ ...press, [flag]: true }, 1000)).toBe(false);
});

it("ignores keys, but not presses, until the card has had the focus for 400 ms", () => {
  const gate = new ArmGate(0);
  gate.disarmKeys(1000);
  expect(gate.isStill(1100)).toBe(true);
  expect(gate.admits(press, 1399)).toBe(false);
  expect(gate.admits(press, 1400)).toBe(true);
});
