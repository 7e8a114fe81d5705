// The shipping rates. resources/policies/shipping.md has the same rates: change both.

export interface Rate {
  /** Up to FIRST_GRAMS. */
  firstCents: number
  /** For each further STEP_GRAMS, also for an incomplete one. */
  stepCents: number
  /** Shipping is free for orders of at least this value. */
  freeFromCents: number
  workingDays: { from: number, to: number }
}

const FIRST_GRAMS = 500
const STEP_GRAMS = 500

export const rates = {
  ireland: { firstCents: 395, stepCents: 100, freeFromCents: 4000, workingDays: { from: 1, to: 2 } },
  eu: { firstCents: 795, stepCents: 250, freeFromCents: 8000, workingDays: { from: 3, to: 6 } },
  uk: { firstCents: 695, stepCents: 250, freeFromCents: 8000, workingDays: { from: 3, to: 7 } },
  world: { firstCents: 1295, stepCents: 600, freeFromCents: 15000, workingDays: { from: 7, to: 15 } }
} satisfies Record<string, Rate>

export function quoteCents (rate: Rate, weightGrams: number, booksCents: number): number {
  if (booksCents >= rate.freeFromCents) return 0
  const steps = Math.ceil(Math.max(0, weightGrams - FIRST_GRAMS) / STEP_GRAMS)
  return rate.firstCents + steps * rate.stepCents
}
