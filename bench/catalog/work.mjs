// The work of the benchmark's tools. The results differ from call to call. The work is small, so that it does
// not hide the cost of the server. Every server except mcp-toolbox and mcp-time runs this file. Trivet runs a
// copy in its catalog.

/** Functions by kind of tool. Each returns structured content, or a text if the tool has no output schema. */
export const WORK = { search, statistics, excerpt }

/** Returns at most five hits, derived from the arguments. */
function search (collection, args) {
  const { query, limit = 20, offset = 0, context = '' } = args
  const { sort = 'relevance', tags = [], archived = false } = args
  const seed = hash(`${collection} ${query} ${sort} ${tags.join(' ')} ${archived}`) + context.length
  const hits = []
  for (let rank = 0; rank < Math.min(limit, 5); rank++) {
    const position = offset + rank
    hits.push({
      id: `${collection}-${(seed + position) % 100_000}`,
      title: `${query}, ${sort} no. ${position + 1}`,
      score: 1000 / (position + 1 + seed % 7)
    })
  }
  return { hits, total: 5 + seed % 500 }
}

function statistics (_, { numbers, precision = 3 }) {
  let sum = 0
  let minimum = Infinity
  let maximum = -Infinity
  for (const number of numbers) {
    sum += number
    if (number < minimum) minimum = number
    if (number > maximum) maximum = number
  }
  const scale = 10 ** precision
  return { count: numbers.length, minimum, maximum, mean: Math.round(sum / numbers.length * scale) / scale }
}

function excerpt (name, { text, length = 200, language = 'en' }) {
  return `${name} (${language}, ${text.length} characters): ${text.slice(0, length)}`
}

function hash (text) {
  let value = 17
  for (let i = 0; i < text.length; i++) value = (value * 31 + text.charCodeAt(i)) % 1_000_003
  return value
}
