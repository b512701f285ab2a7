import { expect, it } from "vitest";
import { isPlainPerlSubstitution } from "./perl-substitution.ts";

it.each([
  "s/foo/bar/",
  "s/foo/bar/g; s|a/b|c|gi",
  "s/(\\w+)\\s*$/[$1]/",
  "tr/a-z/A-Z/",
  "y/a/b/;",
  "s/^v?(\\d+)\\.(?:x|y)/$1-\\n/m",
  "s#http:#https:#g",
  "s/a{2,3}/b/",
  "s/(a|b$)[cd]/$1-$12/",
  "s/(a)/[$1]{$1} 50%/",
])("recognises plain substitutions: %j", (code) => {
  expect(isPlainPerlSubstitution(code)).toBe(true);
});

it.each([
  "",
  "s/x/`id`/e",
  "s/x/y/ee",
  "s/x/@{[system('id')]}/",
  "s/x/${\\ system('id')}/",
  "s/x/$ENV{HOME}/",
  "s/(x)/$1[system('id')]/",
  "s/(x)/$12[system('id')]/",
  "s/(x)/$1{system('id')}/",
  "s/(x)/$1->[system('id')]/",
  "s/x/$)[system('id')]/",
  "s/x/$|[system('id')]/",
  "s/(x)\\1$1[system('id')]/y/",
  "s/(?{system('id')})x/y/",
  "s/(??{`id`})/y/",
  "s/@{[`id`]}/y/",
  "s/x/y/; system('id')",
  "system('id')",
  "print",
  "s{x}{y}",
  "s'x'y'",
  "s/x/y/r . `id`",
  "s/x/y/ if `id`",
  "s/$x/y/",
  "s/x/y",
  "s/a/b/w",
])("treats everything else as code: %j", (code) => {
  expect(isPlainPerlSubstitution(code)).toBe(false);
});

it("reads long code in linear time", () => {
  expect(isPlainPerlSubstitution("s/a/b/;".repeat(5000))).toBe(true);
  expect(isPlainPerlSubstitution(`s/${"\\a(".repeat(30_000)}/b/`)).toBe(true);
});
