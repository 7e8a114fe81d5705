// Random numbers from a seed. Each purpose has numbers of its own: one more for the network changes no id.

export class SeededRandom {
  #state: number

  constructor (seed: string) {
    // FNV-1a, so that similar seeds begin far apart.
    let hash = 2_166_136_261
    for (const character of seed) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619)
    this.#state = hash >>> 0
    for (let warmUp = 0; warmUp < 4; warmUp++) this.number()
  }

  /** From 0 to below 1. Mulberry32. */
  readonly number = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let bits = this.#state
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number below the limit. */
  below (limit: number): number { return Math.floor(this.number() * limit) }

  chance (probability: number): boolean { return probability > 0 && this.number() < probability }

  readonly bytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => this.below(256)))

  readonly uuid = (): string => {
    const hex = this.bytes(16).toString('hex')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }
}
