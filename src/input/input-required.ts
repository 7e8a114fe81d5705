/** How `ask` leaves a handler whose answers are still to come. Not a failure: the round knows what to send. */
export class InputRequired extends Error {
  constructor (keys: readonly string[]) {
    super(`The client is asked for ${keys.map((key) => JSON.stringify(key)).join(', ')}, and the handler runs again when it answers. Let this rejection pass.`)
    this.name = 'InputRequired'
  }
}
