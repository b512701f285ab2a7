import fc from "fast-check";
import { expect, test } from "vitest";
import { compileGlob } from "./glob-matcher.ts";

const name = fc.string({ unit: "binary", minLength: 1 }).map((text) => text.replaceAll(/[/\0]/g, "_"));

const escape = (text: string): string => text.replaceAll(/[\\*?[\]{},]/g, String.raw`\$&`);

test("any name matches itself if it is escaped, and every wildcard for it", () => {
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), name, (folders, file) => {
      const path = [...folders, file].join("/");
      const literals = folders.map(escape).join("/");
      for (const glob of [
        escape(path),
        `**/${escape(file)}`,
        `${literals}/**`,
        `${literals}/*`,
        `{${escape(path)}}`,
        `${literals}/{x,${escape(file)}}`,
        `${literals}/${"?".repeat(Array.from(file).length)}`,
      ]) {
        expect([glob, compileGlob(glob)(path)]).toEqual([glob, true]);
      }
    }),
  );
});

test("no wildcard but ** crosses a folder", () => {
  fc.assert(
    fc.property(name, name, (folder, file) => {
      for (const glob of ["*", "?", "[!x]", `${escape(folder)}*`, `*${escape(file)}`, "{*,?}"]) {
        expect([glob, compileGlob(glob)(`${folder}/${file}`)]).toEqual([glob, false]);
      }
    }),
  );
});

test("any text is compiled or refused, and never a broken expression", () => {
  const text = fc.string({ unit: fc.constantFrom(...Array.from("ab/*?[]{}!^-,\\.😀\n")) });
  fc.assert(
    fc.property(text, (glob) => {
      expect(problemOf(glob)).not.toBeInstanceOf(SyntaxError);
    }),
  );
});

function problemOf(glob: string): unknown {
  try {
    return compileGlob(glob)("a/b");
  } catch (error) {
    return error;
  }
}
