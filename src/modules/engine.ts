// What this engine can do.

import { Script } from 'node:vm'

/** Whether it knows `using`. */
export const hasUsing = compiles('{ using a = null }')

function compiles (code: string): boolean {
  try {
    return new Script(code) instanceof Script
  } catch {
    return false
  }
}
