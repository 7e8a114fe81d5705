// The work that every tool of the benchmark does: enough to differ from call to call, too little to hide the server's
// own cost. Every peer runs this very file; for Trivet it is copied into the catalog.

/** Five hits, derived from the arguments. */
export function search (collection, { query, limit = 20, offset = 0, sort = 'relevance', tags = [], archived = false }) {
  const seed = hash(`${collection} ${query} ${sort} ${tags.join(' ')} ${archived}`)
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

function hash (text) {
  let value = 17
  for (let i = 0; i < text.length; i++) value = (value * 31 + text.charCodeAt(i)) % 1_000_003
  return value
}
