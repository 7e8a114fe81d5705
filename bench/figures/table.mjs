// Tables of text.

/**
 * The first column goes to the left, the others to the right. A row of two cells may have a wide second one.
 *
 * @param {string[]} head
 * @param {string[][]} rows
 */
export function printTable (head, rows) {
  const widths = head.map((title, column) => (
    Math.max(title.length, ...rows.map((row) => row.length === head.length || column === 0 ? row[column].length : 0))
  ))
  for (const row of [head, ...rows]) {
    const isWhole = row.length === head.length
    const cells = row.map((cell, column) => column === 0 || !isWhole ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))
    console.log(cells.join('  ').trimEnd())
  }
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

/** A spread as its median, with the quartiles in parentheses. */
export function spreadText (figures, format = rounded) {
  if (figures === undefined || Number.isNaN(figures.median)) return ''
  const { median, quartiles: [low, high], turns } = figures
  return turns.length === 1 ? format(median) : `${format(median)} (${format(low)}–${format(high)})`
}

/** How busy the machine was with other work. */
export function othersText (rows) {
  return `others used ${Math.round(Math.max(...rows.map(({ others }) => others.median)) * 100)} % of the machine`
}
