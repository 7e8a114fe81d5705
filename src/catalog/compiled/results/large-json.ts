// JSON with large texts, before it is written. Written, it takes the memory of the texts again: whoever has
// it decides first whether there is room.

export class LargeJson {
  /** The characters of its large texts. */
  readonly length: number
  readonly #write: () => Promise<string>

  constructor (length: number, write: () => Promise<string>) {
    this.length = length
    this.#write = write
  }

  /** Writes it with turns of the event loop. To be called once. */
  async write (): Promise<string> { return await this.#write() }

  /** Returns the JSON that has this one as a part. */
  within (toJson: (part: string) => string): LargeJson {
    return new LargeJson(this.length, async () => toJson(await this.write()))
  }
}

/** JSON, written or not. */
export type JsonText = string | LargeJson

/** Writes what is not written. */
export async function writeJson (json: JsonText): Promise<string> {
  return json instanceof LargeJson ? await json.write() : json
}
