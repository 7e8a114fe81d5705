// Components and callbacks that do not change without a reason: a form of a hundred fields renders one.

import { Component, h, type ComponentChildren, type FunctionComponent } from 'preact'
import { useCallback, useRef } from 'preact/hooks'

/** Renders again only when a property is another value. */
export function memo<P extends object> (Inner: FunctionComponent<P>) {
  return class Memo extends Component<P> {
    override shouldComponentUpdate (next: Readonly<P>): boolean {
      const [before, after] = [new Map(Object.entries(this.props)), Object.entries(next)]
      return before.size !== after.length || after.some(([name, value]) => before.get(name) !== value)
    }

    override render (): ComponentChildren { return h(Inner, this.props) }
  }
}

/** Returns a function that stays the same and calls the latest one. */
export function useStable<A extends readonly unknown[], R> (latest: (...args: A) => R): (...args: A) => R {
  const ref = useRef(latest)
  ref.current = latest
  return useCallback((...args: A) => ref.current(...args), [])
}
