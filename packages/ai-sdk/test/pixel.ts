/** A one-pixel PNG. */
export const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const pixelUrl = `data:image/png;base64,${pixel}`;

export const pixelBytes: Uint8Array<ArrayBuffer> = new Uint8Array(Buffer.from(pixel, "base64"));
