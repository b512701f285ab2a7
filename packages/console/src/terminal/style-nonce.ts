/** The nonce that the page's content security policy has for `<style>` elements. */
export function readNonce(document: Pick<Document, "querySelector">): string | undefined {
  return document.querySelector('meta[name="console-nonce"]')?.getAttribute("content") ?? undefined;
}

/**
 * Sets the page's nonce on `<style>` elements that are created while the callback runs. xterm.js writes the colours and sizes of
 * its rows into `<style>` elements that it creates when a terminal is opened, and the policy ignores elements without a nonce.
 */
export function withStyleNonce<Result>(
  document: Pick<Document, "createElement">,
  nonce: string | undefined,
  callback: () => Result,
): Result {
  if (nonce === undefined) return callback();
  const original = document.createElement;
  const create = original.bind(document);
  const withNonce = (name: string, options?: ElementCreationOptions): HTMLElement => {
    const element = create(name, options);
    if (name.toLowerCase() === "style") element.nonce = nonce;
    return element;
  };
  document.createElement = withNonce;
  try {
    return callback();
  } finally {
    document.createElement = original;
  }
}
