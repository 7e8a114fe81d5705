// The state that the benchmark keeps: a basket of about 300 bytes as JSON. A basket counts its changes. The
// tools of the catalog run a copy of this file.

export const BASKET = {
  kind: 'basket',
  prefix: 'bsk',
  idleTtlMs: 3_600_000,
  schema: {
    type: 'object',
    properties: {
      changes: { type: 'integer' },
      customer: { type: 'string', maxLength: 100 },
      lines: {
        type: 'array',
        maxItems: 100,
        items: {
          type: 'object',
          properties: {
            sku: { type: 'string' },
            title: { type: 'string' },
            quantity: { type: 'integer', minimum: 1 }
          },
          required: ['sku', 'title', 'quantity']
        }
      }
    },
    required: ['changes', 'customer', 'lines']
  }
}

/** Every count has six digits, so that all answers with a count have the same size. */
export const FIRST_COUNT = 100_000

export function newBasket () {
  return {
    changes: FIRST_COUNT,
    customer: 'A kitchen that wants for trivets',
    lines: ['iron', 'brass', 'copper', 'walnut'].map((material, index) => (
      { sku: `trivet-${material}`, title: `A ${material} trivet`, quantity: index + 1 }
    ))
  }
}

export function changeBasket (basket) {
  basket.changes++
}
