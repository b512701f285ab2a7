import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const tokens = readFileSync(join(import.meta.dirname, "../src/styles/tokens.css"), "utf8");

/** A colour of both themes. */
function colour(name: string): readonly [light: string, dark: string] {
  const found = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(tokens);
  if (!found?.[1] || !found[2]) throw new Error(`tokens.css has no colour --${name} of both themes.`);
  return [found[1], found[2]];
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

// axe checks only the colours that a test happens to render.
it.each(["keyword", "string", "number", "comment", "title", "type"])(
  "code of the colour %s can be read on every background of code",
  (name) => {
    const low = ["code", "added", "removed"].flatMap((background) =>
      [0, 1].flatMap((theme) => {
        const ratio = contrast(colour(`code-${name}`)[theme] ?? "", colour(background)[theme] ?? "");
        return ratio < 4.5 ? [`${background}, ${theme === 0 ? "light" : "dark"}: ${ratio.toFixed(2)}`] : [];
      }),
    );
    expect(low).toEqual([]);
  },
);
