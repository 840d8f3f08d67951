// Generates a catalogue of any size, always the same.
import type { ProductAdded, ProductEvent, ProductType } from '@paylog/domain/products/events'
import type { ProjectedEvent } from '../projection.ts'

const syllables = 'ba re to mi lu san der kor vel pin gra ste on ar li no tex fa qui zu mo hel bro cas ö é'.split(' ')
const types: readonly ProductType[] = ['physical', 'digital', 'service', 'subscription']
const intervals = ['day', 'week', 'month', 'year'] as const
const dayMs = 86_400_000
const begin = Date.parse('2024-01-01T00:00:00.000Z')

/** The query without filters. */
export const allProductsQuery = { offset: 0, limit: 100 }

/** A few words in nearly every text, many in few, like a natural language. The first is the most common one. */
export const vocabulary = words()

/**
 * Generated products, numbered from 1: names of 3 to 6 words, most with a description of up to 500 characters, in 50
 * categories of uneven size, with all types, mostly active. Some have been changed.
 * @param idOf returns a product's id by its number
 */
export function* catalogFixture(
  count: number,
  idOf: (number: number) => string,
): Generator<ProjectedEvent & ProductEvent> {
  const random = seededRandom()
  for (let number = 1; number <= count; number += 1) {
    const product_id = idOf(number)
    const product = { product_id, ...added(number, random) }
    yield { type: 'ProductAdded', data: product, revision: 0n, sealed: {} }
    const changedAt = Date.parse(product.occurred_at) + random.below(300 * dayMs)
    const facts = { product_id, occurred_at: new Date(changedAt).toISOString() }
    if (random.oneIn(10)) yield { type: 'ProductDeactivated', data: facts, revision: 1n, sealed: {} }
    else if (random.oneIn(3)) {
      const amount = 100 + random.below(90_000)
      const changes = { subtotal_cents: amount, total_cents: amount }
      yield { type: 'ProductChanged', data: { ...facts, changes }, revision: 1n, sealed: {} }
    }
  }
}

function added(number: number, random: Random): Omit<ProductAdded['data'], 'product_id'> {
  const [first = '', ...rest] = text(3 + random.below(4), random)
  const is_recurring = random.oneIn(5)
  const amount = 100 + random.below(90_000)
  return {
    occurred_at: new Date(begin + number * 600_000).toISOString(),
    name: [first.charAt(0).toUpperCase() + first.slice(1), ...rest].join(' '),
    description: random.oneIn(10)
      ? null
      : text(5 + random.below(60), random)
          .join(' ')
          .slice(0, 500),
    product_type: types[random.small(types.length)] ?? 'physical',
    is_recurring,
    subtotal_cents: amount,
    tax_cents: 0,
    discount_cents: 0,
    total_cents: amount,
    currency: 'EUR',
    billing_interval: is_recurring ? (intervals[number % 4] ?? null) : null,
    trial_days: is_recurring && random.oneIn(2) ? 14 : null,
    category_id: random.oneIn(20) ? null : `category-${random.small(50)}`,
    is_active: true,
    request_fingerprint: null,
  }
}

function text(length: number, random: Random): string[] {
  return Array.from({ length }, () => vocabulary[random.small(vocabulary.length)] ?? '')
}

function words(): readonly string[] {
  const random = seededRandom()
  const word = () =>
    Array.from({ length: 2 + random.below(3) }, () => syllables[random.below(syllables.length)]).join('')
  return [...new Set(Array.from({ length: 6_000 }, word))]
}

type Random = ReturnType<typeof seededRandom>

/** Lehmer's generator. */
function seededRandom() {
  let state = 1
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    /** Smaller numbers are more likely. */
    small: (limit: number) => Math.floor(next() ** 3 * limit),
    oneIn: (chances: number) => below(chances) === 0,
  }
}
