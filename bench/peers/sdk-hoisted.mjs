// The official SDK with every schema made once, outside of the factory: what a careful user of it does.

import { serve } from './sdk-server.mjs'
import { promptInput, toolInput, toolOutput } from './zod-schemas.mjs'

await serve({ toolInput: once(toolInput), toolOutput: once(toolOutput), promptInput: once(promptInput) })

function once (toSchema) {
  const made = new Map()
  return (definition) => {
    if (!made.has(definition)) made.set(definition, toSchema(definition))
    return made.get(definition)
  }
}
