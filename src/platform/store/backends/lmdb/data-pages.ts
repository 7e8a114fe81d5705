// Walks the trees of a database in its file, to find a page that they need and the file does not have.

export interface DataPages {
  readonly pageSize: number
  /** How many whole pages the file has. */
  readonly count: number
  /** `undefined` beyond the end. */
  read (position: number, length: number): Buffer | undefined
}

/** A tree without entries has this root. */
const NO_PAGE = 0xffff_ffff_ffff_ffffn
const PAGE = { flags: 18, lower: 20, span: 20, header: 24 }
const BRANCH = 1
const LEAF = 2
/** The bytes of an entry before its key. */
const ENTRY_BYTES = 8
/** The value of an entry is the number of its first page. */
const ELSEWHERE = 1
/** The value of an entry is a tree of its own. */
const TREE = 2
const ROOT_IN_TREE = 40

/** Returns the number of a missing page. `undefined` if all are there. */
export function findMissingPage (pages: DataPages, roots: readonly bigint[]): number | undefined {
  const open = roots.filter((root) => root !== NO_PAGE).map(Number)
  for (let page = open.pop(); page !== undefined; page = open.pop()) {
    const bytes = page < pages.count ? pages.read(page * pages.pageSize, pages.pageSize) : undefined
    if (bytes === undefined) return page
    const flags = bytes.readUInt16LE(PAGE.flags)
    for (const entry of entriesOf(bytes)) {
      if ((flags & BRANCH) !== 0) open.push(entry.readUIntLE(0, 6))
      else if ((flags & LEAF) !== 0) {
        const { value, isElsewhere, isTree } = toLeafEntry(entry)
        if (isElsewhere && !hasSpan(pages, value.readUIntLE(0, 6))) return value.readUIntLE(0, 6)
        const root = isTree ? value.readBigUInt64LE(ROOT_IN_TREE) : NO_PAGE
        if (root !== NO_PAGE) open.push(Number(root))
      }
    }
  }
  return undefined
}

function entriesOf (page: Buffer): Buffer[] {
  const body = page.subarray(PAGE.header)
  const count = page.readUInt16LE(PAGE.lower) / 2
  return Array.from({ length: count }, (_, index) => body.subarray(body.readUInt16LE(2 * index)))
}

function toLeafEntry (entry: Buffer) {
  const [flags, keyBytes] = [entry.readUInt16LE(4), entry.readUInt16LE(6)]
  return {
    value: entry.subarray(ENTRY_BYTES + keyBytes),
    isElsewhere: (flags & ELSEWHERE) !== 0,
    isTree: (flags & TREE) !== 0
  }
}

/** A large value has several pages: the first one says how many. */
function hasSpan ({ pageSize, count, read }: DataPages, first: number): boolean {
  const header = first < count ? read(first * pageSize, PAGE.header) : undefined
  return header !== undefined && first + header.readUInt32LE(PAGE.span) <= count
}
