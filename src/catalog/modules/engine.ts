// Features of the JavaScript engine.

import { Script } from 'node:vm'

/** Whether the engine supports `using`. */
export const hasUsing = compiles('{ using a = null }')

function compiles (code: string): boolean {
  try {
    return new Script(code) instanceof Script
  } catch {
    return false
  }
}
