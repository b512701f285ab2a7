import { createMemo, createRoot, createSignal } from "solid-js";
import { matchRoute } from "./match-route.ts";

const BASE = "/console";

interface Place {
  readonly path: string;
  readonly search: string;
  readonly hash: string;
}

function readPlace(): Place {
  const { pathname, search, hash } = location;
  return { path: pathname.startsWith(BASE) ? pathname.slice(BASE.length) : pathname, search, hash };
}

const [place, setPlace] = createSignal<Place>(readPlace());
addEventListener("popstate", () => setPlace(readPlace()));

/** The matched route, or undefined for an unknown path. Reactive. */
export const route = createRoot(() => {
  const path = createMemo(() => place().path);
  return createMemo(() => matchRoute(path()));
});

/** A parameter of the path, such as `id` of `/s/:id`. Reactive. */
export function routeParam(name: string): string | undefined {
  return route()?.params[name];
}

/** A parameter of the query, such as `p` of `/s/abc?p=diff`. Reactive. */
export function queryParam(name: string): string | undefined {
  return new URLSearchParams(place().search).get(name) ?? undefined;
}

/** The part after `#`, decoded. Reactive. */
export function hashTarget(): string {
  try {
    return decodeURIComponent(place().hash.slice(1));
  } catch {
    return "";
  }
}

/** The URL of a page, such as `/console/s/abc` for `/s/abc`. */
export function toHref(path: string): string {
  return `${BASE}${path}`;
}

/** Navigates to a page, such as `/s/abc?p=diff`. */
export function navigate(path: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, "", toHref(path));
  else history.pushState(null, "", toHref(path));
  setPlace(readPlace());
}

/** Changes parameters of the query without leaving the page. Undefined removes a parameter. */
export function setQueryParams(params: Readonly<Record<string, string | undefined>>): void {
  const search = new URLSearchParams(place().search);
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) search.delete(name);
    else search.set(name, value);
  }
  const suffix = search.size > 0 ? `?${search.toString()}` : "";
  navigate(`${place().path}${suffix}`, { replace: true });
}

/** Handles links inside the console without reloading the page. */
export function interceptLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
    return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (!link.pathname.startsWith(`${BASE}/`)) return;
  event.preventDefault();
  navigate(`${link.pathname.slice(BASE.length)}${link.search}${link.hash}`);
}
