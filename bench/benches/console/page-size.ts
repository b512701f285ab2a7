import { gzipSync } from "node:zlib";

/** Kilobytes after gzip. */
export interface PageSize {
  readonly scripts: number;
  readonly styles: number;
}

type Load = (path: string) => Promise<Uint8Array>;

/**
 * Measures the scripts and styles that a page's HTML refers to, compressed regardless of whether the server
 * compresses them.
 */
export async function measurePage(html: string, load: Load): Promise<PageSize> {
  const tags = [...html.matchAll(/<(?:script|link)\b[^>]*>/g)].map(([tag]) => tag);
  const attribute = (tag: string, name: string): string | undefined =>
    new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
  const scripts = tags.flatMap((tag) => {
    if (tag.startsWith("<script")) return attribute(tag, "src") ?? [];
    return attribute(tag, "rel") === "modulepreload" ? (attribute(tag, "href") ?? []) : [];
  });
  const styles = tags.flatMap((tag) =>
    attribute(tag, "rel") === "stylesheet" ? (attribute(tag, "href") ?? []) : [],
  );
  // Files on other hosts are not counted.
  const sum = async (paths: readonly string[]): Promise<number> => {
    const own = [...new Set(paths)].filter((path) => !/^(?:https?:)?\/\//.test(path));
    const sizes = await Promise.all(own.map(async (path) => gzipSync(await load(path), { level: 9 }).length));
    return sizes.reduce((total, size) => total + size, 0) / 1000;
  };
  const inline = [...html.matchAll(/<style[^>]*>([^]*?)<\/style>/g)].map(([, text = ""]) => text).join("");
  return {
    scripts: await sum(scripts),
    styles: (await sum(styles)) + (inline === "" ? 0 : gzipSync(inline, { level: 9 }).length / 1000),
  };
}
