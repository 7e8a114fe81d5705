// Schemas that are made once, as a careful user of the SDK makes them.

import * as schemas from './zod-schemas.mjs'

export const madeOnce = Object.fromEntries(Object.entries(schemas).map(([name, toSchema]) => (
  [name, once(toSchema)]
)))

function once (toSchema) {
  const made = new Map()
  return (definition) => {
    if (!made.has(definition)) made.set(definition, toSchema(definition))
    return made.get(definition)
  }
}
