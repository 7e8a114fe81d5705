// What a client must have declared before it may be asked.

import { missingCapabilities, type ClientCapabilities } from '../protocol/capabilities.ts'
import { isObject } from '../protocol/json-rpc.ts'

/** What is needed and was not declared, as one object; `undefined` where nothing is missing. */
export function findUndeclared (declared: ClientCapabilities, needed: ClientCapabilities): ClientCapabilities | undefined {
  return missingCapabilities(needed, withFormMode(declared))
}

/** Elicitation that names no mode is elicitation by form. */
function withFormMode (declared: ClientCapabilities): ClientCapabilities {
  const { elicitation } = declared
  const namesNoMode = isObject(elicitation) && elicitation.form === undefined && elicitation.url === undefined
  return namesNoMode ? { ...declared, elicitation: { ...elicitation, form: {} } } : declared
}

/** What several questions need together. */
export function mergeNeeds (all: readonly ClientCapabilities[]): ClientCapabilities {
  const merged: ClientCapabilities = {}
  for (const { elicitation, sampling, roots } of all) {
    if (elicitation !== undefined) merged.elicitation = { ...merged.elicitation, ...elicitation }
    if (sampling !== undefined) merged.sampling = { ...merged.sampling, ...sampling }
    if (roots !== undefined) merged.roots = roots
  }
  return merged
}
