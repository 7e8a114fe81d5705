// Runs a Lua script by its digest. Its text is sent only to a server that does not have it.

import { createHash } from 'node:crypto'

export type Argument = string | number | Buffer

export interface Script { readonly text: string, readonly digest: string }

export interface ScriptRunner {
  callBuffer (command: string, ...args: Argument[]): Promise<unknown>
}

export function toScript (text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}

/** A cluster finds the node by the text in braces in the keys: it must be the same in all of them. */
export async function runScript (
  client: ScriptRunner, { text, digest }: Script, keys: readonly string[], args: readonly Argument[]
): Promise<unknown> {
  const keysAndArguments = [keys.length, ...keys, ...args]
  try {
    return await client.callBuffer('EVALSHA', digest, ...keysAndArguments)
  } catch (error) {
    // A server without the script has done nothing, so the command may be sent again.
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
    return await client.callBuffer('EVAL', text, ...keysAndArguments)
  }
}
