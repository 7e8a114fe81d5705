// Compares figures with yardsticks, which Trivet has to meet. Each section states its own yardsticks.

import { printTable, printTitle, rounded } from './table.mjs'

/** @param {{ name: string, atLeast?: number, atMost?: number, figure: number | undefined }[]} yardsticks */
export function judge (yardsticks) {
  return yardsticks.filter(({ figure }) => figure !== undefined && !Number.isNaN(figure)).map((yardstick) => {
    const { atLeast = -Infinity, atMost = Infinity, figure } = yardstick
    return { ...yardstick, verdict: figure >= atLeast && figure <= atMost ? 'met' : 'missed' }
  })
}

export function printYardsticks (judged) {
  if (judged.length === 0) return
  printTitle('Yardsticks')
  printTable(['', 'target', 'figure', ''], judged.map(({ name, atLeast, atMost, figure, verdict }) => (
    [name, target(atLeast, atMost), rounded(figure), verdict]
  )))
}

function target (atLeast, atMost) {
  if (atLeast === undefined) return `≤ ${atMost}`
  return atMost === undefined ? `≥ ${atLeast}` : `${atLeast}–${atMost}`
}
