// The bytes of bodies that arrive, until each body is parsed. What has come counts, not what Content-Length
// says: a sender that says much and sends little takes no room from others.

import type { ProtocolError } from '../protocol/errors.ts'
import { holderOf, type Holder, type Sender } from './holder.ts'
import type { Limit } from './limits.ts'

/** One body. */
export interface ArrivingBody {
  /** Counts more of its bytes. It may be refused at once. */
  add (bytes: number): void
  /** All of it has come: it is not refused any more. */
  complete (): void
  /** Stops counting its bytes. Does nothing for a body that is closed or was refused. */
  close (): void
}

/** The bodies of one holder, or of all senders that no share limits. */
interface BodyGroup {
  readonly holder: Holder | undefined
  readonly share: number
  /** Oldest first. */
  readonly refusals: Set<Refuse>
  bytes: number
  rank: number
}

/** Refuses a body that has not come whole. */
type Refuse = () => void

/** The rank of all holders that use less than their share. */
const LOWEST_RANK = -1

/**
 * While the bodies together have more bytes than the limit, one is refused: the oldest of the holder that is
 * farthest above its share or, if none is, the oldest of all. Holders within their shares do not give way by
 * size: the senders of a few hundred networks, with a part of a body each, would refuse every larger body for
 * as long as they like. To keep out a body that takes a second they must send the whole limit in a second.
 */
export class ArrivingBytes {
  readonly #limit: Limit
  readonly #groups = new Map<string, BodyGroup>()
  /** The groups that have a body to refuse, by the part of the share that they use: a power of two. */
  readonly #ranks = new Map<number, Set<BodyGroup>>()
  /** The refusals of all groups, oldest first. */
  readonly #refusals = new Set<Refuse>()
  #total = 0

  constructor (limit: Limit) {
    this.#limit = limit
  }

  get total (): number { return this.#total }

  /** @param onRefused is called at most once. It must stop the reading. */
  open (sender: Sender, onRefused: (refusal: ProtocolError) => void): ArrivingBody {
    return this.openFor(holderOf(sender), onRefused)
  }

  openFor (holder: Holder | undefined, onRefused: (refusal: ProtocolError) => void): ArrivingBody {
    const group = this.#groupOf(holder)
    let bytes = 0
    let isClosed = false
    const complete = () => {
      group.refusals.delete(refuse)
      this.#refusals.delete(refuse)
      this.#change(group, 0)
    }
    const close = () => {
      if (isClosed) return
      isClosed = true
      group.refusals.delete(refuse)
      this.#refusals.delete(refuse)
      this.#change(group, -bytes)
    }
    const refuse = () => {
      const refusal = this.#refusalOf(group)
      close()
      onRefused(refusal)
    }
    group.refusals.add(refuse)
    this.#refusals.add(refuse)
    return {
      add: (newBytes) => {
        if (isClosed) return
        bytes += newBytes
        this.#change(group, newBytes)
        while (this.#total > this.#limit.max && this.#refuseOne());
      },
      complete,
      close
    }
  }

  #groupOf (holder: Holder | undefined): BodyGroup {
    const name = holder?.name ?? ''
    const existing = this.#groups.get(name)
    if (existing !== undefined) return existing
    const share = this.#limit.shareOf(holder?.kind ?? 'all')
    const group = { holder, share, refusals: new Set<Refuse>(), bytes: 0, rank: -Infinity }
    this.#groups.set(name, group)
    return group
  }

  #change (group: BodyGroup, bytes: number): void {
    const { holder, share, refusals } = group
    this.#total += bytes
    group.bytes += bytes
    const power = Math.floor(Math.log2(group.bytes / share))
    const rank = refusals.size === 0 ? -Infinity : Math.max(LOWEST_RANK, power)
    if (rank !== group.rank) this.#move(group, rank)
    if (group.bytes === 0 && refusals.size === 0) this.#groups.delete(holder?.name ?? '')
  }

  #move (group: BodyGroup, rank: number): void {
    const before = this.#ranks.get(group.rank)
    if (before?.delete(group) === true && before.size === 0) this.#ranks.delete(group.rank)
    group.rank = rank
    if (rank === -Infinity) return
    const peers = this.#ranks.get(rank) ?? new Set()
    this.#ranks.set(rank, peers.add(group))
  }

  /** Returns `false` if all bodies have come whole. */
  #refuseOne (): boolean {
    const rank = Math.max(...this.#ranks.keys())
    const [group] = rank > LOWEST_RANK ? this.#ranks.get(rank) ?? [] : []
    const [refuse] = group?.refusals ?? this.#refusals
    refuse?.()
    return refuse !== undefined
  }

  #refusalOf ({ holder, share, bytes }: BodyGroup): ProtocolError {
    const isOver = holder !== undefined && bytes > share
    const network = isOver && holder.kind === 'network' ? holder.name : undefined
    return this.#limit.refusal(isOver ? holder.kind : 'all', network)
  }
}
