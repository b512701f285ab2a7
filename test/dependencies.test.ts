import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/dependencies.md"), "utf8");

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Whether a package is one of this repository's. */
const isOwn = (name: string): boolean => name === "codexkit" || name.startsWith("@codexkit/");

test.each(
  globSync(["package.json", "{packages,test}/*/package.json", "{bench,examples,interop}/package.json"], {
    cwd: root,
  }),
)("every dependency of %s has a reason in docs/dependencies.md", (path) => {
  const { dependencies, peerDependencies, optionalDependencies, devDependencies } = JSON.parse(
    readFileSync(join(root, path), "utf8"),
  ) as Manifest;
  const names = Object.keys({
    ...dependencies,
    ...peerDependencies,
    ...optionalDependencies,
    ...devDependencies,
  });
  expect(names.filter((name) => !isOwn(name) && !page.includes(`\`${name}\``))).toEqual([]);
});
