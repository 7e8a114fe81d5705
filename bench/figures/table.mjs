// Prints tables as text.

import { endsOf } from './stats.mjs'

/**
 * Aligns the first column to the left and the others to the right. In a row of two cells, the second cell may
 * be wider than its column.
 *
 * @param {string[]} head
 * @param {string[][]} rows
 */
export function printTable (head, rows) {
  const isWhole = (row) => row.length === head.length
  const widths = head.map((title, column) => {
    const cells = rows.filter((row) => column === 0 || isWhole(row)).map((row) => row[column])
    return Math.max(title.length, ...cells.map((cell) => cell.length))
  })
  for (const row of [head, ...rows]) {
    const cells = row.map((cell, column) => {
      const width = widths[column]
      return column === 0 || !isWhole(row) ? cell.padEnd(width) : cell.padStart(width)
    })
    console.log(cells.join('  ').trimEnd())
  }
}

/**
 * Prints a table of servers. The title states the share of the machine that other processes used.
 *
 * @param {string} title
 * @param {object[]} servers as `summarise` returns them
 * @param {[string, (server: object) => string][]} columns the columns after name and Node
 * @param {string[][]} [rest] further rows
 */
export function printServers (title, servers, columns, rest = []) {
  const others = servers.flatMap(({ others }) => others === undefined ? [] : [others.median])
  const share = Math.round(Math.max(...others) * 100)
  printTitle(others.length === 0 ? title : `${title}; others used ${share} % of the machine`)
  const rows = servers.map((server) => (
    [server.name, server.node, ...columns.map(([, textOf]) => textOf(server))]
  ))
  printTable(['', 'Node', ...columns.map(([head]) => head)], [...rows, ...rest])
}

/**
 * The columns for figures measured at saturation.
 *
 * @param {[string, string][]} references the title and the key of each ratio
 */
export function saturationColumns (references) {
  const compared = (head, textOf, textOfRatio = textOf) => [
    [head, textOf],
    ...references.map(([title, key]) => (
      [title, ({ [key]: ratio }) => ratio === undefined ? '' : textOfRatio(ratio)]
    ))
  ]
  const perSecondText = ({ perSecond }) => spreadText(perSecond, grouped)
  return [
    ...compared('req/s', perSecondText, ({ perSecond }) => spreadText(perSecond)),
    ...compared('CPU µs', ({ cpuUs }) => spreadText(cpuUs)),
    ...compared('quiet CPU µs', ({ cpuUs }) => rounded(cpuUs.quiet)),
    ['p99 ms', ({ p99Ms }) => rounded(p99Ms.median)],
    ['generator', ({ clientBusy }) => rounded(clientBusy.median)],
    ['warm-up', ({ warmUpAnswers, warmUpSeconds }) => (
      `${grouped(warmUpAnswers.median)} in ${rounded(warmUpSeconds.median)} s`
    )]
  ]
}

export function printTitle (title) {
  console.log(`\n${title}`)
}

export function grouped (figure) {
  return Math.round(figure).toLocaleString('en')
}

export function rounded (figure) {
  if (figure === undefined || Number.isNaN(figure)) return ''
  return Math.abs(figure) < 100 ? figure.toPrecision(3) : grouped(figure)
}

/**
 * Formats a spread as its median. In parentheses are the quartiles of the turns; after several starts, the
 * lowest and the highest median of a start.
 */
export function spreadText (figures, format = rounded) {
  if (figures === undefined || Number.isNaN(figures.median)) return ''
  const { median, turns } = figures
  const [low, high] = endsOf(figures)
  return turns.length === 1 ? format(median) : `${format(median)} (${format(low)}–${format(high)})`
}
