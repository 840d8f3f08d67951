// Changes of the fake Stripe's products and prices, by the API or the merchant.
import {
  type NewPrice,
  type NewProduct,
  priceBody,
  productBody,
  type StripePrice,
  type StripeProduct,
} from './bodies.ts'
import { invalid, noSuch } from './errors.ts'
import type { StripeEvent } from './events.ts'
import { existing, type StripeState } from './state.ts'

/** The fields of a product that can be changed; an empty string clears. */
export type ProductChange = {
  readonly name?: string | null
  readonly description?: string | null
  readonly active?: boolean | null
  readonly default_price?: string | null
  readonly metadata?: Readonly<Record<string, string>>
}

/** The fields of a price that can be changed. */
export type PriceChange = Pick<ProductChange, 'active' | 'metadata'>

/** @param key of the call; `null` for a change by the merchant in the Dashboard */
export function addProduct(state: StripeState, product: NewProduct, key: string | null = null): StripeProduct {
  const { id } = product
  if (id && state.products.has(id)) throw invalid('resource_already_exists', 'Product already exists.', 'id')
  const added = productBody(product, state.seconds())
  state.products.set(added.id, added)
  state.recordEvent('product.created', added, { key })
  return added
}

export function changeProduct(
  state: StripeState,
  {
    product,
    change,
    key = null,
  }: { readonly product: StripeProduct; readonly change: ProductChange; readonly key?: string | null },
): StripeProduct {
  const { default_price } = change
  if (default_price) checkDefault(state, product, default_price)
  const changes = {
    ...given({ name: change.name, active: change.active }),
    ...cleared({ description: change.description, default_price }),
    ...(change.metadata && { metadata: merged(product.metadata, change.metadata) }),
  }
  const previous = replace(product, changes)
  if (previous) {
    product.updated = state.seconds()
    state.recordEvent('product.updated', product, { previous, key })
  }
  return product
}

function checkDefault(state: StripeState, { id }: StripeProduct, priceId: string): void {
  const price = state.prices.get(priceId)
  if (!price) throw noSuch('price', priceId, 'default_price', 400)
  if (price.product !== id)
    throw invalid(undefined, `The price ${priceId} does not belong to this product.`, 'default_price')
  if (!price.active)
    throw invalid(undefined, 'The price specified is inactive. This field only accepts active prices.', 'default_price')
}

export function addPrice(state: StripeState, price: NewPrice, key: string | null = null): StripePrice {
  if (!state.products.has(price.product)) throw noSuch('product', price.product, 'product', 400)
  const added = priceBody(price, state.seconds())
  state.prices.set(added.id, added)
  state.recordEvent('price.created', added, { key })
  return added
}

export function changePrice(
  state: StripeState,
  {
    price,
    change,
    key = null,
  }: { readonly price: StripePrice; readonly change: PriceChange; readonly key?: string | null },
): StripePrice {
  if (change.active === false && state.products.get(price.product)?.default_price === price.id)
    throw invalid(undefined, 'This price cannot be archived because it is the default price of its product.')
  const changes = {
    ...given({ active: change.active }),
    ...(change.metadata && { metadata: merged(price.metadata, change.metadata) }),
  }
  const previous = replace(price, changes)
  if (previous) state.recordEvent('price.updated', price, { previous, key })
  return price
}

/** The merchant deletes a product with its prices in the Dashboard, which the API does not allow. */
export function deleteProduct(state: StripeState, id: string): StripeEvent[] {
  const product = existing(state.products, id)
  const prices = [...state.prices.values()].filter((price) => price.product === id)
  for (const price of prices) state.prices.delete(price.id)
  state.products.delete(id)
  return [
    ...prices.map((price) => state.recordEvent('price.deleted', price)),
    state.recordEvent('product.deleted', product),
  ]
}

function given(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}

function cleared(fields: Readonly<Record<string, string | null | undefined>>): object {
  const entries = Object.entries(fields).filter(([, value]) => typeof value === 'string')
  return Object.fromEntries(entries.map(([name, value]) => [name, value === '' ? null : value]))
}

function merged(before: Readonly<Record<string, string>>, change: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value !== ''))
}

/** @returns the previous values of the changed fields; `undefined` when nothing changed */
function replace(object: object, changes: object): object | undefined {
  const before = new Map<string, unknown>(Object.entries(object))
  const different = Object.entries(changes).filter(
    ([name, value]) => JSON.stringify(before.get(name)) !== JSON.stringify(value),
  )
  if (different.length === 0) return undefined
  Object.assign(object, Object.fromEntries(different))
  return Object.fromEntries(different.map(([name]) => [name, before.get(name)]))
}
