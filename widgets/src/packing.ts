// The front end as a notebook's file contains it: in as few characters as a short reader can unpack.
//
// A model guesses each bit of the text from what came before in several contexts (the last bytes, the word, the bracket
// that is open), and an arithmetic coder writes only what the guesses did not know. `build.mjs` packs, `boot.ts` unpacks.
// All numbers are whole, or products of such, so every browser comes to the same guesses. State is in variables rather
// than in objects since their names get short.

const CONTEXTS = 10;
/** What a guess is made of: the contexts, the text that followed these bytes before, and a constant. */
const READ = CONTEXTS + 2;
const SLOTS = 1 << 24;
/** After so many bits in a context, its estimate changes no slower. */
const STEADY = 11;
/** Bytes that are equal, before they make a match. */
const LEAST_MATCH = 5;
const MOST_MATCH = 31;

interface Guesses {
  /** The chance that the next bit is 1, of 4096. */
  guess(): number;
  learn(bit: number): void;
}

/** Return the guesses of the bits of a text. `text` is filled with the bytes as they are learned. */
function guesses(text: Uint8Array): Guesses {
  // The chance, of 4096, for odds of e^(d / 256), and the way back.
  const chances: number[] = [];
  const odds: number[] = [];
  for (let d = -2047, ratio = 0.00033677559; d < 2048; d++, ratio *= 1.00391388933835) {
    const chance = (chances[d + 2047] = Math.floor((4096 * ratio) / (1 + ratio)));
    while (odds.length <= chance) odds.push(d);
  }
  while (odds.length < 4096) odds.push(2047);
  const chanceOf = (d: number): number => chances[Math.max(-2047, Math.min(2047, d)) + 2047] as number;

  const rates = Array.from({ length: STEADY + 1 }, (_, times) => Math.floor(32768 / (times + 1.05)));
  // Estimates, those for half a byte in a context beside each other: 16 bits of chance, and how often it was seen. The
  // first of 16 says what they belong to.
  const slots = new Int32Array(SLOTS);
  const contexts = new Int32Array(CONTEXTS);
  const starts = new Int32Array(CONTEXTS);
  const read = new Int32Array(READ);
  // Two sets of weights: by the bits of this byte, and by the byte before.
  const weights = new Int32Array(512 * READ).fill(13000);
  const rows = [0, 0];
  const dots = [0, 0];
  const matches = new Uint16Array(64).fill(32768);
  const lastAt = new Int32Array(1 << 16);
  const open: number[] = [];
  let at = 0;
  let bits = 1;
  let half = 1;
  let match = 0;
  let matched = 0;
  let matching = -1;
  let word = 0;
  let wordBefore = 0;

  const mixed = (hash: number): number => {
    const mixing = Math.imul(hash, 0x9e3779b1);
    return Math.imul(mixing ^ (mixing >>> 15), 0x2c1b3c6d);
  };
  const last = (back: number): number => text[at - back] ?? 0;

  /** Note a byte. */
  const follow = (byte: number): void => {
    const before = last(1);
    text[at++] = byte;
    const char = String.fromCharCode(byte);
    if (byte > 127 || /[\w$]/.test(char)) word = Math.imul(word + byte, 0x2f0b4c47);
    else {
      wordBefore = word || wordBefore;
      word = 0;
    }
    if ("([{".includes(char)) open.push(byte + before * 256);
    if (")]}".includes(char)) open.pop();
    matched = matched && text[match++] === byte ? Math.min(matched + 1, MOST_MATCH) : 0;
    let hash = 0;
    for (let i = 1; i <= LEAST_MATCH; i++) hash = Math.imul(hash + last(i), 0x2f0b4c47);
    hash >>>= 16;
    if (!matched) {
      match = lastAt[hash] as number;
      while (matched < MOST_MATCH && matched < match && text[match - 1 - matched] === last(matched + 1)) matched++;
      if (matched < LEAST_MATCH) matched = 0;
    }
    lastAt[hash] = at;
  };

  /** Begin a byte. */
  const begin = (): void => {
    bits = 1;
    const two = last(1) + last(2) * 256;
    const three = two + last(3) * 65536;
    const four = three + last(4) * 16777216;
    const bracket = open.at(-1) ?? 0;
    [
      0, two, three, four, word + last(1), Math.imul(word, 31) + wordBefore, two + bracket * 65536, word + bracket * 977,
      four + Math.imul(last(5) + last(6) * 256 + last(7) * 65536, 0x3d4d51cb), three & 0xffff00,
    ].forEach((context, i) => (contexts[i] = mixed(context + i)));
  };

  /** Find the estimates for the next half of a byte. */
  const turn = (): void => {
    half = 1;
    for (let i = 0; i < CONTEXTS; i++) {
      const hash = mixed((contexts[i] as number) + Math.imul(bits, 0x85ebca6b));
      const start = (starts[i] = (hash >>> 8) & ~15);
      if (slots[start] !== hash) slots.fill(0x80000000, start, start + 16);
      slots[start] = hash;
    }
  };

  begin();
  turn();
  return {
    guess() {
      for (let i = 0; i < CONTEXTS; i++) read[i] = odds[(slots[(starts[i] as number) + half] as number) >>> 20] as number;
      const expected = (text[match] as number) + 256;
      const left = Math.clz32(bits) - 23; // of the byte, and one
      matching = matched && expected >> left === bits ? matched * 2 + ((expected >> (left - 1)) & 1) : -1;
      read[CONTEXTS] = matching < 0 ? 0 : (odds[(matches[matching] as number) >>> 4] as number);
      read[CONTEXTS + 1] = 256;
      rows[0] = bits * READ;
      rows[1] = (256 + last(1)) * READ;
      for (let set = 0; set < 2; set++) {
        let dot = 0;
        for (let i = 0; i < READ; i++) dot = (dot + Math.imul(read[i] as number, weights[(rows[set] as number) + i] as number)) | 0;
        dots[set] = dot >> 16;
      }
      return Math.max(1, Math.min(4095, chanceOf(((dots[0] as number) + (dots[1] as number)) >> 1)));
    },
    learn(bit) {
      const goal = bit * 65535;
      for (let set = 0; set < 2; set++) {
        const error = (bit * 4096 - chanceOf(dots[set] as number)) * 5;
        for (let i = 0; i < READ; i++) (weights[(rows[set] as number) + i] as number) += (Math.imul(read[i] as number, error) + 8192) >> 14;
      }
      for (let i = 0; i < CONTEXTS; i++) {
        const index = (starts[i] as number) + half;
        const slot = slots[index] as number;
        const times = slot & 255;
        const chance = slot >>> 16;
        slots[index] = ((chance + (((goal - chance) * (rates[times] as number)) >> 15)) << 16) | Math.min(times + 1, STEADY);
      }
      if (matching >= 0) (matches[matching] as number) += (goal - (matches[matching] as number)) >> 6;
      bits = bits * 2 + bit;
      half = half * 2 + bit;
      if (bits > 255) {
        follow(bits & 255);
        begin();
      }
      if (half > 15) turn();
    },
  };
}

/** The characters of packed text: those that neither HTML nor JSON writes as several. */
const CHARACTERS = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).filter((char) => !'"\\&<>'.includes(char)).join("");
const BASE = CHARACTERS.length;
/** The range of the coder, in characters; their products are exact. */
const LENGTH = 7;
const FIRST = BASE ** (LENGTH - 1);

/** Both sides of the coder narrow the same range, bit by bit: `high` is its end, and `narrow` is given what chooses the
 * bit: 1 up to `parted`, 0 beyond. Characters that both ends of the range begin with are dropped. */
function coder(text: Uint8Array, drop: (character: number) => void) {
  const { guess, learn } = guesses(text);
  let low = 0;
  let high = FIRST * BASE - 1;
  return {
    high: () => high,
    narrow(choose: (parted: number) => number): void {
      const parted = low + Math.floor((high - low) / 4096) * guess();
      const bit = choose(parted);
      if (bit) high = parted;
      else low = parted + 1;
      for (let first; (first = Math.floor(low / FIRST)) === Math.floor(high / FIRST); ) {
        drop(first);
        low = (low % FIRST) * BASE;
        high = (high % FIRST) * BASE + BASE - 1;
      }
      learn(bit);
    },
  };
}

export function pack(bytes: Uint8Array): string {
  const out: number[] = [];
  const { narrow, high } = coder(new Uint8Array(bytes.length), (character) => out.push(character));
  for (const byte of bytes) for (let i = 7; i >= 0; i--) narrow(() => (byte >> i) & 1);
  out.push(Math.floor(high() / FIRST)); // The reader goes on with zeros.
  return `${bytes.length} ${out.map((character) => CHARACTERS.charAt(character)).join("")}`;
}

/** So many bytes are unpacked before the page has its turn. */
const SLICE = 4096;

export async function unpack(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(Number.parseInt(text, 10));
  let next = text.indexOf(" ");
  let code = 0;
  const take = (): void => {
    code = (code % FIRST) * BASE + CHARACTERS.indexOf(text.charAt(++next));
  };
  for (let i = 0; i < LENGTH; i++) take();
  const { narrow } = coder(bytes, take);
  for (let i = 1; i <= bytes.length; i++) {
    for (let j = 0; j < 8; j++) narrow((parted) => (code <= parted ? 1 : 0));
    if (i % SLICE === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  return bytes;
}
