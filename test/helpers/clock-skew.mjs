// Shifts the clock of the process that imports this module by CLOCK_SKEW_MS. Monotonic times stay as they
// are, as on a machine whose clock is wrong.

const skewMs = Number(process.env.CLOCK_SKEW_MS)
if (!Number.isFinite(skewMs)) throw new TypeError('CLOCK_SKEW_MS must be a number of milliseconds')
const { timeOrigin } = performance
const TrueDate = Date

class SkewedDate extends TrueDate {
  constructor (...args) {
    super(...(args.length === 0 ? [SkewedDate.now()] : args))
  }

  static now () { return TrueDate.now() + skewMs }
}

// `Date()` without `new` is a text. A class cannot be called without `new`.
globalThis.Date = new Proxy(SkewedDate, { apply: () => new SkewedDate().toString() })
Object.defineProperty(performance, 'timeOrigin', { value: timeOrigin + skewMs })
