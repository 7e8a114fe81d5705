// What the result of a program has.

import type { Operation } from '../probe.ts'

/** The keys of the values and of the answers that the result of a program has. */
export function toWanted (
  program: readonly Operation[]
): { readonly values: string[], readonly answers: string[] } {
  const values: string[] = []
  const answers: string[] = []
  for (const [index, operation] of program.entries()) {
    const key = `${operation.do}-${index}`
    const both = [`${key}-a`, `${key}-b`]
    switch (operation.do) {
      case 'step': case 'fail': values.push(key); break
      case 'rounds':
        values.push(...Array.from({ length: operation.count }, (_, round) => `${key}-${round}`))
        break
      case 'both': values.push(...both); break
      case 'ask': answers.push(...both.slice(0, operation.questions)); break
      case 'asks': case 'ask-and-ask-later': answers.push(...both); break
      case 'ask-and-sleep': answers.push(`${key}-a`); break
      case 'ask-and-step':
        answers.push(`${key}-a`)
        values.push(key)
    }
  }
  return { values, answers }
}
