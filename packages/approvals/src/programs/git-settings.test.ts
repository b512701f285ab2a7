import { expect, it } from "vitest";
import { HARMLESS_SETTING } from "./git-settings.ts";

it("accepts harmless settings in any case", () => {
  for (const setting of [
    "user.name=A B",
    "CORE.Pager=cat",
    "core.pager=",
    "color.ui=never",
    "pull.rebase=true",
  ])
    expect(setting).toMatch(HARMLESS_SETTING);
});

it("rejects settings that run programs or read files, and names that only begin harmlessly", () => {
  for (const setting of [
    "core.pager=cat;id",
    "core.pager=cat\nx",
    "core.pagerx=cat",
    "color.diff.x=a",
    "user.signingkey=x",
    "status.x.y=z",
    "core.editor=vi",
    "filter.x.clean=id",
    "xuser.name=a",
    "init.templatedir=x",
    "user.name=a\n[alias]",
  ])
    expect(setting).not.toMatch(HARMLESS_SETTING);
});
