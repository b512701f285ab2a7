import { createEffect, createRoot } from "solid-js";
import { preferences, reloadPreferences } from "./preferences.ts";

/** Applies the preferred theme and density, also if another tab changes them. */
export function applyPreferences(): void {
  addEventListener("storage", () => reloadPreferences());
  createRoot(() =>
    createEffect(() => {
      const { theme, density } = preferences();
      const { dataset } = document.documentElement;
      if (theme === "system") delete dataset["theme"];
      else dataset["theme"] = theme;
      dataset["density"] = density;
    }),
  );
}
