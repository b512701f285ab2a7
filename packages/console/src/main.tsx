import { render } from "solid-js/web";
import { App } from "./app/app.tsx";
import { createFeed } from "./feed/create-feed.ts";
import { applyPreferences } from "./settings/apply-preferences.ts";

const root = document.querySelector("#app");
if (!root) throw new Error("The page has no #app.");

applyPreferences();
const worker = new Worker(new URL("./feed/feed-worker.ts", import.meta.url), { type: "module" });
render(() => {
  // Not an expression in the property, which Solid would evaluate at every read, each time with a new feed.
  const feed = createFeed(worker);
  return <App feed={feed} />;
}, root);
