/** Browser features that the page does not use. Browsers would report unknown names. */
const DENIED_FEATURES = [
  "accelerometer",
  "camera",
  "display-capture",
  "encrypted-media",
  "geolocation",
  "gyroscope",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "usb",
  "xr-spatial-tracking",
];

const PERMISSIONS = [...DENIED_FEATURES.map((feature) => `${feature}=()`), "clipboard-write=(self)"].join(
  ", ",
);

/**
 * Returns the headers of every response of the page. They only allow scripts, styles and connections of this origin,
 * and neither inline code nor evaluation. Workers use the policy from the response of their own script. The nonce
 * allows style elements that a script creates.
 */
export function pageHeaders(nonce?: string): Record<string, string> {
  return {
    "content-security-policy": contentSecurityPolicy(nonce),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": PERMISSIONS,
  };
}

function contentSecurityPolicy(nonce: string | undefined): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    nonce === undefined ? "style-src 'self'" : `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}
