// The step columns in their transfer format, and source columns as CPython counts them.

/** Little-endian u32s in base64, as an array. Throws when the bytes are not a whole number of them. */
export function decodeU32(text: string): Uint32Array {
  const raw = atob(text);
  if (raw.length % 4 !== 0) throw new Error("a step column is cut short");
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  if (LITTLE) return new Uint32Array(bytes.buffer);
  const view = new DataView(bytes.buffer);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(4 * i, true));
}

const LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** CPython counts columns in UTF-8 bytes, JavaScript in UTF-16 units: the latter for byte `column` of `line`. */
export function unitColumn(line: string, column: number): number {
  let bytes = 0;
  let units = 0;
  for (const character of line) {
    if (bytes >= column) break;
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    units += character.length;
  }
  return units;
}
