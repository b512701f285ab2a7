/** The dark modules of a QR code as one SVG path. Adjacent modules of a row are one rectangle. */
export function qrPath(rows: readonly (readonly boolean[])[]): string {
  const parts: string[] = [];
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x += 1) {
      if (!row[x]) continue;
      const start = x;
      while (row[x + 1]) x += 1;
      parts.push(`M${start} ${y}h${x - start + 1}v1h${start - x - 1}z`);
    }
  }
  return parts.join("");
}
